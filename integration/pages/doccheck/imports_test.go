package doccheck

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var importRow = regexp.MustCompile("(?m)^\\| `([^`]+)` \\|.*\\| ([^|]*) \\|$")

// badImports lists rows of the table of folders in CONTRIBUTING.md whose last column differs from the folders of the
// checkout that the package imports.
func (c *checkout) badImports() (wrong []string) {
	const page = "CONTRIBUTING.md"
	_, table, _ := strings.Cut(c.text(page), "| folder |")
	table, _, _ = strings.Cut(table, "\n\n")
	rows := importRow.FindAllStringSubmatch(table, -1)
	if len(rows) == 0 {
		return []string{page + " has no table of folders that this check can see"}
	}
	for _, row := range rows {
		p := c.packages[row[1]]
		if p == nil {
			wrong = append(wrong, fmt.Sprintf("%s: there is no package %s", page, row[1]))
			continue
		}
		var says []string
		for _, s := range codeSpans.FindAllStringSubmatch(row[2], -1) {
			says = append(says, s[1])
		}
		slices.Sort(says)
		if is := p.ours(); !slices.Equal(says, is) {
			wrong = append(wrong, fmt.Sprintf("%s: %s imports %q, the table says %q", page, row[1], is, says))
		}
	}
	return wrong
}

// ours returns the folders of this checkout that a package imports, without the imports of its tests.
func (p *pkg) ours() (folders []string) {
	for name, f := range p.files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, spec := range f.Imports {
			imported, _ := strconv.Unquote(spec.Path.Value)
			if folder, mine := strings.CutPrefix(imported, modulePath+"/"); mine && !slices.Contains(folders, folder) {
				folders = append(folders, folder)
			}
		}
	}
	slices.Sort(folders)
	return folders
}
