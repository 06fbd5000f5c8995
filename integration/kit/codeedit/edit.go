package codeedit

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Edit changes one piece of syntax in one function.
//
// Patterns are Go; in them, _ stands for any expression.
type Edit struct {
	// In is the function, "f", or the method, "T.f". If two packages have one of that name, put the package's name
	// before it.
	In string

	// One of these selects the piece.
	Expr string // an expression
	Stmt string // a statement
	If   string // the condition of an if
	Case string // an expression of a case
	Call string // a call, by the called function: "f", "x.f", or "f" for any x.f

	Arg int // this argument of Call, from 1, in place of the whole call
	Nth int // which of the matching places, from 1; 0: there must be only one

	// One of these says how to change it.
	Put    string // replace it by this
	Negate bool   // negate it
	Remove bool   // remove it: a statement, or a call that is one
	Before string // insert these statements before its statement
}

// change is a range of a file's text and its replacement.
type change struct {
	from, to int
	text     string
}

// Apply makes the edits and returns the changed files by path. Edits are independent: each is matched against the
// original code.
func (m *Module) Apply(edits ...Edit) (map[string][]byte, error) {
	texts := map[string][]byte{}
	changes := map[string][]change{}
	for _, e := range edits {
		f, c, err := m.locate(e)
		if err != nil {
			return nil, fmt.Errorf("in %s: %w", e.In, err)
		}
		texts[f.file] = f.text
		changes[f.file] = append(changes[f.file], c)
	}
	for file, text := range texts {
		changed, err := replace(text, changes[file])
		if err == nil {
			_, err = parser.ParseFile(token.NewFileSet(), file, changed, parser.SkipObjectResolution)
		}
		if err != nil {
			return nil, fmt.Errorf("%s, with its edits: %w", file, err)
		}
		texts[file] = changed
	}
	return texts, nil
}

// replace makes the changes of one file.
func replace(text []byte, changes []change) ([]byte, error) {
	slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(a.from, b.from) })
	var out bytes.Buffer
	end := 0
	for _, c := range changes {
		if c.from < end {
			return nil, errors.New("one edit is within another")
		}
		if string(text[c.from:c.to]) == c.text {
			return nil, fmt.Errorf("%q would not be changed", c.text)
		}
		out.Write(text[end:c.from])
		out.WriteString(c.text)
		end = c.to
	}
	out.Write(text[end:])
	return out.Bytes(), nil
}

// Overlay makes the edits and writes the changed files into dir. It returns the path of their list, for go build's
// -overlay.
func (m *Module) Overlay(dir string, edits ...Edit) (list string, err error) {
	files, err := m.Apply(edits...)
	if err != nil {
		return "", err
	}
	instead := map[string]string{}
	for path, text := range files {
		instead[path] = filepath.Join(dir, strings.ReplaceAll(path, string(filepath.Separator), "_"))
		if err := os.WriteFile(instead[path], text, 0o644); err != nil {
			return "", err
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": instead})
	if err != nil {
		return "", err
	}
	list = filepath.Join(dir, "overlay.json")
	return list, os.WriteFile(list, text, 0o644)
}

// locate finds the place of an edit, and the change to make there.
func (m *Module) locate(e Edit) (*function, change, error) {
	f, err := m.function(e.In)
	if err != nil {
		return nil, change{}, err
	}
	what, places, err := find(f.decl, e)
	if err != nil {
		return nil, change{}, err
	}
	switch n := len(places); {
	case n == 0:
		return nil, change{}, fmt.Errorf("no %s", what)
	case e.Nth == 0 && n > 1:
		return nil, change{}, fmt.Errorf("%d times %s; Nth must say which", n, what)
	case e.Nth > n || e.Nth < 0:
		return nil, change{}, fmt.Errorf("%s: there is no place %d, there are %d", what, e.Nth, n)
	}
	c, err := e.change(m.set, f.text, places[max(e.Nth, 1)-1])
	if err != nil {
		return nil, change{}, fmt.Errorf("%s: %w", what, err)
	}
	return f, c, nil
}

// change returns the change that the edit makes at a place.
func (e Edit) change(set *token.FileSet, text []byte, at place) (change, error) {
	if !one(e.Put != "", e.Negate, e.Remove, e.Before != "") {
		return change{}, errors.New("one of Put, Negate, Remove and Before must say what becomes of it")
	}
	offset := func(p token.Pos) int { return set.Position(p).Offset }
	from, to := offset(at.node.Pos()), offset(at.node.End())
	switch {
	case e.Before != "" && at.stmt == nil, e.Remove && !at.alone():
		return change{}, errors.New("it is not a statement of a list")
	case e.Before != "":
		from = offset(at.stmt.Pos())
		return change{from, from, e.Before + "\n"}, nil
	case e.Negate:
		return change{from, to, "!(" + string(text[from:to]) + ")"}, nil
	default:
		return change{from, to, e.Put}, nil
	}
}

// one reports whether exactly one of its arguments is true.
func one(of ...bool) bool {
	n := 0
	for _, is := range of {
		if is {
			n++
		}
	}
	return n == 1
}
