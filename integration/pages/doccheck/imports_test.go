package doccheck

import (
	"fmt"
	"maps"
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

var folderRow = regexp.MustCompile("(?m)^\\| `([^`]+)` \\|")

// badFolders lists folders of integration that its table in CONTRIBUTING.md lacks, and rows whose folder is gone.
func (c *checkout) badFolders() (wrong []string) {
	const page = "CONTRIBUTING.md"
	_, table, _ := strings.Cut(c.text(page), "| folder of `integration` |")
	table, _, _ = strings.Cut(table, "\n\n")
	rows := map[string]bool{}
	for _, row := range folderRow.FindAllStringSubmatch(table, -1) {
		rows[row[1]] = true
	}
	are := map[string]bool{}
	for folder := range c.packages {
		if inside, ok := strings.CutPrefix(folder, "integration/"); ok {
			name, _, _ := strings.Cut(inside, "/")
			are[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(are)) {
		if !rows[name] {
			wrong = append(wrong, fmt.Sprintf("%s: the table of integration's folders lacks %s", page, name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		if !are[name] {
			wrong = append(wrong, fmt.Sprintf("%s: there is no folder integration/%s", page, name))
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
