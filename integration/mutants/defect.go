package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rlock-go/redisson/integration/kit/codeedit"
)

// defect is one mistake and the tests that must notice it.
type defect struct {
	what   string
	guards string // the invariants that it breaks, or the part of the library that it stands for
	by     tests
	edits  edits
}

type edits = []codeedit.Edit

// tests are names of tests: "TestX", or "folder.TestX" where two packages have a TestX.
type tests = []string

// catalogue returns all defects in the order of the table.
func catalogue() []defect {
	return slices.Concat(acquiring, holding, releasing, once, waiting, sending, aside, replicas, telling, forTests, sharing, kinds, fair, readWrite, multi, permits, numbers, atOnce, leading, identity)
}

// where names the functions with the defect, each once.
func (d defect) where() string {
	var functions []string
	for _, e := range d.edits {
		if !slices.Contains(functions, e.In) {
			functions = append(functions, e.In)
		}
	}
	return strings.Join(functions, ", ")
}

// catcher is a test, in a package named by its folder in the checkout.
type catcher struct{ pkg, test string }

// source is the checkout in the form that the defects need.
type source struct {
	root    string
	library *codeedit.Module   // with rlocktest
	modules []*codeedit.Module // that have tests
}

func readSource() (*source, error) {
	root, err := codeedit.Root()
	if err != nil {
		return nil, err
	}
	library, err := codeedit.Read(root, filepath.Join(root, "rlocktest"))
	if err != nil {
		return nil, err
	}
	integration, err := codeedit.Read(filepath.Join(root, "integration"))
	return &source{root, library, []*codeedit.Module{library, integration}}, err
}

// catchers finds the tests of a defect.
func (s *source) catchers(d defect) ([]catcher, error) {
	var found []catcher
	for _, name := range d.by {
		var folders []string
		for _, m := range s.modules {
			folders = append(folders, m.TestFolders(name)...)
		}
		if len(folders) != 1 {
			return nil, fmt.Errorf("%s: %d packages have a test %s: %v", d.what, len(folders), name, folders)
		}
		pkg, err := filepath.Rel(s.root, folders[0])
		if err != nil {
			return nil, err
		}
		found = append(found, catcher{filepath.ToSlash(pkg), name[strings.LastIndex(name, ".")+1:]})
	}
	return found, nil
}
