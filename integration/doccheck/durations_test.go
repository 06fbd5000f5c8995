package doccheck

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

var (
	saysSeconds = regexp.MustCompile(`for (\d+) s\b`)
	isSeconds   = regexp.MustCompile(`(?:const step =|Duration:) +(\d+) \* time\.Second\b`)
)

// durations lists targets of the Makefile whose comment says of the step of `make test` that it runs for another time than the
// test has.
func (c *checkout) durations() (wrong []string) {
	text := c.text("Makefile")
	for _, target := range []string{"torture", "endurance"} {
		before, _, found := strings.Cut(text, "\n.PHONY: "+target+"\n")
		if !found {
			continue
		}
		comment := before[strings.LastIndex(before, "\n\n")+1:]
		var takes []string
		files, _ := filepath.Glob(filepath.Join(c.root, "integration", target, "*_test.go"))
		for _, file := range files {
			name, _ := filepath.Rel(c.root, file)
			takes = append(takes, seconds(isSeconds, c.text(name))...)
		}
		if says := seconds(saysSeconds, comment); len(takes) == 0 || strings.Join(says, " ") != strings.Join(takes, " ") {
			wrong = append(wrong, fmt.Sprintf("Makefile: %s says that its step runs for %q s, its tests say %q", target, says, takes))
		}
	}
	return wrong
}

// seconds are the numbers that a text has in such places.
func seconds(place *regexp.Regexp, text string) (all []string) {
	for _, m := range place.FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	return all
}
