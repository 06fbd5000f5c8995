package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/rlock-go/redisson/integration/internal/codeedit"
	"github.com/rlock-go/redisson/internal/deathsig"
)

// defect is a mistake that the library once made, as edits that put it back.
type defect struct {
	what  string
	as    string // the kinds of violations that show it
	edits []codeedit.Edit
}

// runDefects puts each defect back and runs until it is found; its result is the exit status.
func runDefects(only, keep string, limit time.Duration, lanes int) (status int) {
	root, err := codeedit.Root()
	if err != nil {
		fmt.Println(err)
		return 1
	}
	library, err := codeedit.Read(root)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("| defect | found after | as |\n|---|---|---|")
	for _, d := range defects {
		if !strings.Contains(d.what, only) {
			continue
		}
		found, err := d.hunt(root, library, keep, limit, lanes)
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
func (d defect) hunt(root string, library *codeedit.Module, keep string, limit time.Duration, lanes int) (row string, err error) {
	dir, err := os.MkdirTemp("", "endurance-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	list, err := library.Overlay(dir, d.edits...)
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
