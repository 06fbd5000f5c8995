package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/rlock-go/redisson/internal/deathsig"
)

// defect is a mistake that the library once made, as edits that put it back.
type defect struct {
	what  string
	as    string // the kinds of violations that show it
	edits []edit
}

// edit replaces a text that a function has exactly once.
type edit struct{ file, fn, old, new string }

// apply gives the files of the library with the defect, by their path.
func (d defect) apply(root string) (map[string]string, error) {
	files := map[string]string{}
	for _, e := range d.edits {
		path := filepath.Join(root, e.file)
		if _, there := files[path]; !there {
			text, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			files[path] = string(text)
		}
		text := files[path]
		from, to, err := function(text, e.fn)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.file, err)
		}
		if n := strings.Count(text[from:to], e.old); n != 1 || e.old == e.new {
			return nil, fmt.Errorf("%s: %s has this text %d times, not once, or it would not be changed:\n%s", e.file, e.fn, n, e.old)
		}
		files[path] = text[:from] + strings.Replace(text[from:to], e.old, e.new, 1) + text[to:]
	}
	return files, nil
}

// function finds a function or method, named as "f" or "T.f", in a file's text.
func function(text, name string) (from, to int, err error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", text, parser.SkipObjectResolution)
	if err != nil {
		return 0, 0, err
	}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		full := f.Name.Name
		if f.Recv != nil {
			t := f.Recv.List[0].Type
			if star, ok := t.(*ast.StarExpr); ok {
				t = star.X
			}
			if id, ok := t.(*ast.Ident); ok {
				full = id.Name + "." + full
			}
		}
		if full == name {
			return set.Position(f.Pos()).Offset, set.Position(f.End()).Offset, nil
		}
	}
	return 0, 0, fmt.Errorf("no function %s", name)
}

// overlay writes the edited files into dir, and a list of them as go build takes it.
func (d defect) overlay(root, dir string) (list string, err error) {
	files, err := d.apply(root)
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for path, text := range files {
		to := filepath.Join(dir, strings.ReplaceAll(path, string(filepath.Separator), "_"))
		if err := os.WriteFile(to, []byte(text), 0o644); err != nil {
			return "", err
		}
		replace[path] = to
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	list = filepath.Join(dir, "overlay.json")
	return list, os.WriteFile(list, text, 0o644)
}

// findRoot goes up from the working folder to the library's module.
func findRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(text), "module github.com/rlock-go/redisson\n") {
			return dir, nil
		}
		if up := filepath.Dir(dir); up != dir {
			dir = up
			continue
		}
		return "", errors.New("endurance: run it from within the checkout")
	}
}

// runDefects puts each defect back and runs until it is found; its result is the exit status.
func runDefects(only, keep string, limit time.Duration, lanes int) (status int) {
	root, err := findRoot()
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("| defect | found after | as |\n|---|---|---|")
	for _, d := range defects {
		if !strings.Contains(d.what, only) {
			continue
		}
		found, err := d.hunt(root, keep, limit, lanes)
		if err != nil {
			fmt.Printf("| %s | NOT FOUND | %v |\n", d.what, err)
			status = 1
			continue
		}
		fmt.Println(found)
	}
	return status
}

// hunt runs rounds against the library with the defect until one promise is broken.
func (d defect) hunt(root, keep string, limit time.Duration, lanes int) (row string, err error) {
	dir, err := os.MkdirTemp("", "endurance-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	list, err := d.overlay(root, dir)
	if err != nil {
		return "", err
	}
	binary := filepath.Join(dir, "endurance")
	build := exec.Command("go", "build", "-buildvcs=false", "-overlay", list, "-o", binary, "./endurance")
	build.Dir = filepath.Join(root, "integration")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("it does not build: %w: %s", err, out)
	}
	began := time.Now()
	run := exec.Command(binary, "-duration", limit.String(), "-stop", "1", "-kinds", d.as, "-lanes", fmt.Sprint(lanes))
	run.SysProcAttr = deathsig.Attr(syscall.SIGKILL)
	out, err := run.CombinedOutput()
	if keep != "" {
		if err := os.WriteFile(filepath.Join(keep, strings.ReplaceAll(d.what, " ", "-")+".txt"), out, 0o644); err != nil {
			return "", err
		}
	}
	if first := strings.Index(string(out), "VIOLATION ("); first >= 0 {
		lines := strings.SplitN(string(out[first:]), "\n", 3)
		when, _ := labelled(string(out), "first violation after ")
		return fmt.Sprintf("| %s | %s | %s: %.160s |", d.what, when, strings.TrimPrefix(lines[0], "VIOLATION "), lines[1]), nil
	}
	return "", fmt.Errorf("in %v: %v", time.Since(began).Round(time.Second), err)
}

// labelled is what stands behind a label in a text, up to the end of its line.
func labelled(text, label string) (string, bool) {
	_, rest, ok := strings.Cut(text, label)
	line, _, _ := strings.Cut(rest, "\n")
	return line, ok
}
