package doccheck

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// packaging lists what the root folder lacks: the licence, the other files of a project, the changelog's section for
// the next version, and, in the requirements, a package that setup.sh installs.
func (c *checkout) packaging() (wrong []string) {
	for _, name := range []string{"LICENSE", "NOTICE", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"} {
		if !c.exists(name) {
			wrong = append(wrong, "there is no "+name)
		}
	}
	if text := c.text("LICENSE"); !strings.Contains(text, "Apache License") || !strings.Contains(text, "END OF TERMS AND CONDITIONS") {
		wrong = append(wrong, "LICENSE is not the whole text of the Apache License")
	}
	if !strings.Contains(c.text("CHANGELOG.md"), "\n## [Unreleased]\n") {
		wrong = append(wrong, "CHANGELOG.md has no section [Unreleased]")
	}
	installed := c.installed()
	if len(installed) == 0 {
		wrong = append(wrong, "integration/setup.sh installs no package that this check can see")
	}
	_, requirements, _ := strings.Cut(c.text("CONTRIBUTING.md"), "\n## Requirements\n")
	requirements, _, _ = strings.Cut(requirements, "\n## ")
	for _, name := range installed {
		if !strings.Contains(requirements, "`"+name+"`") {
			wrong = append(wrong, fmt.Sprintf("CONTRIBUTING.md: the requirements do not name `%s`, which setup.sh installs", name))
		}
	}
	return wrong
}

var (
	wantedLists = regexp.MustCompile(`wanted='([^']*)'`)
	wantedPairs = regexp.MustCompile(`^\S+?:(\S+)$`)
)

// installed returns the packages of setup.sh, from its lists of program:package.
func (c *checkout) installed() (packages []string) {
	for _, list := range wantedLists.FindAllStringSubmatch(c.text("integration/setup.sh"), -1) {
		for _, pair := range strings.Fields(list[1]) {
			if m := wantedPairs.FindStringSubmatch(pair); m != nil && !slices.Contains(packages, m[1]) {
				packages = append(packages, m[1])
			}
		}
	}
	return packages
}

// text returns a file's content, or "" if it can't be read.
func (c *checkout) text(name string) string {
	text, err := os.ReadFile(filepath.Join(c.root, name))
	if err != nil {
		return ""
	}
	return string(text)
}
