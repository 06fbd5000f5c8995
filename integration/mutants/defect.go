package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// defect is one mistake and the tests that must notice it.
type defect struct {
	what  string
	edits []edit
	by    []catcher
}

// edit replaces a text that its file has exactly once.
type edit struct{ file, old, new string }

// catcher is a test, in a package named by its folder.
type catcher struct{ pkg, test string }

// catalogue is every defect in the order of the table.
func catalogue() []defect {
	return slices.Concat(acquiring, waiting, releasing, leasing, talking, moving, sharing, kinds)
}

// apply makes the edits in the checkout at root. What it returns puts the files back as they were.
func (d defect) apply(root string) (restore func() error, err error) {
	before := map[string][]byte{}
	after := map[string]string{}
	for _, e := range d.edits {
		if _, read := before[e.file]; !read {
			text, err := os.ReadFile(filepath.Join(root, e.file))
			if err != nil {
				return nil, err
			}
			before[e.file], after[e.file] = text, string(text)
		}
		// Looked for in what was there before, so that no edit depends on another.
		if n := strings.Count(string(before[e.file]), e.old); n != 1 || e.old == e.new {
			return nil, fmt.Errorf("%s has this text %d times, not once, or it would not be changed:\n%s", e.file, n, e.old)
		}
		if strings.Count(after[e.file], e.old) != 1 {
			return nil, fmt.Errorf("%s: one edit is within another:\n%s", e.file, e.old)
		}
		after[e.file] = strings.Replace(after[e.file], e.old, e.new, 1)
	}
	for file, text := range after {
		if err := os.WriteFile(filepath.Join(root, file), []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	return func() error {
		for file, text := range before {
			if err := os.WriteFile(filepath.Join(root, file), text, 0o644); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// where names the files with the defect, each once.
func (d defect) where() string {
	var files []string
	for _, e := range d.edits {
		if !slices.Contains(files, e.file) {
			files = append(files, e.file)
		}
	}
	return strings.Join(files, ", ")
}

// packages are the folders of its tests, each once, in order.
func (d defect) packages() []string {
	var pkgs []string
	for _, c := range d.by {
		if !slices.Contains(pkgs, c.pkg) {
			pkgs = append(pkgs, c.pkg)
		}
	}
	return pkgs
}

// tests are the names of its tests in one package.
func (d defect) tests(pkg string) []string {
	var names []string
	for _, c := range d.by {
		if c.pkg == pkg {
			names = append(names, c.test)
		}
	}
	return names
}
