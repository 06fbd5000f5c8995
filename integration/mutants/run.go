package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

const (
	buildLimit = 5 * time.Minute
	testLimit  = 2 * time.Minute // of one test under one defect
)

// bench tries defects.
type bench struct {
	*source
	temp string // for changed files, binaries and leftovers of tests
}

// environ returns the environment of every command: no server but those that tests start, no files outside temp.
func (b bench) environ() []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "REDIS_URL=") || strings.HasPrefix(v, "RLOCK_DOCKER=")
	})
	return append(env, "TMPDIR="+b.temp, "GOFLAGS=-buildvcs=false")
}

// command runs a command in a folder of the checkout and returns its output.
func (b bench) command(limit time.Duration, dir, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = filepath.Join(b.root, dir), b.environ(), &out, &out
	// A server that outlives its test may keep the pipe open.
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	return out.String(), err
}

// module returns the folder of a package's module, and the package's folder in it.
func module(pkg string) (mod, rest string) {
	if inside, ok := strings.CutPrefix(pkg, "integration/"); ok {
		return "integration", "./" + inside
	}
	if pkg == "rlocktest" {
		return pkg, "."
	}
	return ".", "./" + pkg
}

// build makes a package's test binary. If an overlay is given, its files replace the checkout's. All packages of the
// library must build too, even those that the tests don't reach.
func (b bench) build(pkg, overlay string) (binary string, err error) {
	if out, err := b.command(buildLimit, ".", "go", "build", "-p", "1", "-overlay", overlay, "./..."); err != nil {
		return "", fmt.Errorf("the library does not build: %w\n%s", err, out)
	}
	mod, rest := module(pkg)
	binary = filepath.Join(b.temp, strings.ReplaceAll(pkg, "/", "_")+".bin")
	if out, err := b.command(buildLimit, mod, "go", "test", "-p", "1", "-overlay", overlay, "-c", "-o", binary, rest); err != nil {
		return "", fmt.Errorf("the tests of %s do not build: %w\n%s", pkg, err, out)
	}
	return binary, nil
}

// outcome is how some tests of one package ended.
type outcome struct {
	passed, failed []string // failed includes those that a panic or the time limit ended
	ok             bool     // the whole run passed; a leak fails it as well
	output         string
}

// run runs some tests of a built package.
func (b bench) run(binary, pkg string, limit time.Duration, names ...string) (outcome, error) {
	pattern := "^(" + strings.Join(names, "|") + ")$"
	// test2json marks the framework's lines, even if a test's own output did not end its line.
	out, err := b.command(limit+30*time.Second, pkg, binary, "-test.v=test2json", "-test.timeout", limit.String(), "-test.run", pattern)
	if _, ran := errors.AsType[*exec.ExitError](err); err != nil && !ran && !errors.Is(err, exec.ErrWaitDelay) {
		return outcome{}, fmt.Errorf("the tests of %s: %w\n%s", pkg, err, out)
	}
	o := results(out)
	o.ok, o.output = err == nil, out
	return o, nil
}

var frame = regexp.MustCompile(`\x16(=== RUN|--- PASS:|--- FAIL:|--- SKIP:) +(Test\w+)(?:\s|$)`)

// results reads the top-level results from the output of a verbose run. A skipped test has neither passed nor failed.
func results(out string) (o outcome) {
	var open []string
	for _, m := range frame.FindAllStringSubmatch(out, -1) {
		what, name := m[1], m[2]
		if what == "=== RUN" {
			open = append(open, name)
			continue
		}
		open = slices.DeleteFunc(open, func(n string) bool { return n == name })
		switch what {
		case "--- PASS:":
			o.passed = append(o.passed, name)
		case "--- FAIL:":
			o.failed = append(o.failed, name)
		}
	}
	o.failed = append(o.failed, open...)
	return o
}
