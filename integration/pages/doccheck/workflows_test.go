package doccheck

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var runStep = regexp.MustCompile(`(?m)^ +- run: (.*)$`)

// workflows lists what the workflow files run that is no target of the Makefile, and which commands of the README they
// do not run.
func (c *checkout) workflows() (wrong []string) {
	m, err := c.makefile()
	if err != nil {
		return []string{err.Error()}
	}
	files, _ := filepath.Glob(filepath.Join(c.root, ".github", "workflows", "*.yml"))
	var ran []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			wrong = append(wrong, err.Error())
		}
		if n := strings.Count(string(text), "run:"); n != len(runStep.FindAllString(string(text), -1)) {
			wrong = append(wrong, fmt.Sprintf("%s has a run of another form", filepath.Base(file)))
		}
		for _, step := range runStep.FindAllStringSubmatch(string(text), -1) {
			target, is := strings.CutPrefix(step[1], "make ")
			if !is || !m.has(target) {
				wrong = append(wrong, fmt.Sprintf("%s runs %q, which is no target of the Makefile", filepath.Base(file), step[1]))
			}
			ran = append(ran, step[1])
		}
	}
	wanted := []string{"make test-all"}
	for _, b := range c.pages["README.md"].blocks {
		lines, _ := b.script()
		for _, l := range lines {
			if strings.HasPrefix(l.text, "make ") {
				wanted = append(wanted, l.text)
			}
		}
	}
	for _, command := range wanted {
		if m.has(strings.TrimPrefix(command, "make ")) && !slices.Contains(ran, command) {
			wrong = append(wrong, fmt.Sprintf("no workflow runs %q", command))
		}
	}
	return wrong
}
