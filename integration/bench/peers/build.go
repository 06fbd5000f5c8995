package peers

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Wanted is what Build is to put in beside the benchmark's own.
type Wanted struct {
	Others bool   // every peer of others that can be had
	Before string // the library at this commit; empty: not
	// Program is the folder of the program, relative to the benchmark's and beginning with ./; empty: the benchmark itself.
	Program string
}

// Build makes the binary from the benchmark's folder, one peer after the other, with each that can be added to those before it. It
// returns why others are missing, by their names; the error is of the benchmark without any, or of an earlier commit that can't be
// had. What the go command says in full goes to log.
func Build(ctx context.Context, dir, binary string, wanted Wanted, log io.Writer) (missing map[string]string, err error) {
	temp, err := os.MkdirTemp("", "rlock-bench-peers-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	mod, err := readModule(filepath.Join(dir, "go.mod"))
	if err != nil {
		return nil, err
	}
	b := builder{dir, temp, binary, cmp.Or(wanted.Program, ".")}
	var tags []string
	if wanted.Before != "" {
		before, err := b.before(ctx, wanted.Before)
		if err != nil {
			return nil, err
		}
		mod, tags = mod.add(before), []string{beforeTag}
	}
	missing = map[string]string{}
	if err := b.compile(ctx, mod, tags); err != nil || !wanted.Others {
		return missing, err
	}
	files, err := filepath.Glob(filepath.Join(dir, "peers", "*.mod"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".mod")
		own, err := readModule(file)
		if err != nil {
			return nil, err
		}
		with, more := mod.add(own), append(slices.Clone(tags), name)
		if err := b.compile(ctx, with, more); err != nil {
			failed, ok := errors.AsType[*buildError](err)
			if !ok || ctx.Err() != nil {
				return nil, errors.Join(err, ctx.Err())
			}
			fmt.Fprintf(log, "without %s: %v\n", name, err)
			missing[name] = failed.reason()
			continue
		}
		mod, tags = with, more
	}
	return missing, nil
}

type builder struct {
	dir     string // the benchmark's
	temp    string // for module files
	binary  string // what it makes
	program string // of which folder
}

// compile makes the binary with these tags, and leaves an older one alone if it can't.
func (b builder) compile(ctx context.Context, m module, tags []string) error {
	file := filepath.Join(b.temp, "bench.mod")
	if err := m.write(file); err != nil {
		return err
	}
	// -mod=mod: requirements that were each complete may raise each other.
	cmd := exec.CommandContext(ctx, "go", "build", "-mod=mod", "-modfile="+file, "-tags="+strings.Join(tags, ","), "-o", b.binary, b.program)
	cmd.Dir = b.dir
	cmd.Env = append(os.Environ(), "GOWORK=off") // -modfile is not for go.work
	if out, err := cmd.CombinedOutput(); err != nil {
		return &buildError{err, string(out)}
	}
	return nil
}

// buildError is what the go command had to say.
type buildError struct {
	error
	output string
}

func (e *buildError) Error() string { return e.error.Error() + "\n" + strings.TrimSpace(e.output) }
func (e *buildError) Unwrap() error { return e.error }

var (
	address  = regexp.MustCompile(`\w+://\S+`)
	progress = regexp.MustCompile(`^go: (downloading|finding) `)
)

// reason is as much of it as a table has room for: the first complaint, without the address of whatever proxy was asked.
func (e *buildError) reason() string {
	for line := range strings.Lines(e.output) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' && !progress.MatchString(line) {
			return strings.Join(strings.Fields(address.ReplaceAllString(line, "…")), " ")
		}
	}
	return e.error.Error()
}

// module is a go.mod and its go.sum.
type module struct {
	text     []byte            // of a go.mod
	requires map[string]string // what is to be added to it: versions by paths
	replaces map[string]string // likewise, folders by paths
	sum      []byte
}

// readModule reads a file of requirements and the sums beside it.
func readModule(file string) (m module, err error) {
	if m.text, err = os.ReadFile(file); err != nil {
		return m, err
	}
	if m.sum, err = os.ReadFile(strings.TrimSuffix(file, ".mod") + ".sum"); err != nil {
		return m, err
	}
	m.requires, err = Requires(file)
	return m, err
}

// Requires is what a file in the form of a go.mod requires: versions by paths.
func Requires(file string) (map[string]string, error) {
	out, err := exec.Command("go", "mod", "edit", "-json", file).Output()
	var parsed struct {
		Require []struct{ Path, Version string }
	}
	if err == nil {
		err = json.Unmarshal(out, &parsed)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	requires := map[string]string{}
	for _, r := range parsed.Require {
		requires[r.Path] = r.Version
	}
	return requires, nil
}

// add is m with what only other requires. A version that m has already is left to the build to raise.
func (m module) add(other module) module {
	requires := maps.Clone(other.requires)
	maps.Copy(requires, m.requires)
	replaces := m.replaces
	if replaces == nil {
		replaces = other.replaces
	}
	return module{text: m.text, requires: requires, replaces: replaces, sum: slices.Concat(m.sum, other.sum)}
}

// write puts the module's files where -modfile is to find them.
func (m module) write(file string) error {
	err := os.WriteFile(file, m.text, 0o644)
	if err = errors.Join(err, os.WriteFile(strings.TrimSuffix(file, ".mod")+".sum", m.sum, 0o644)); err != nil {
		return err
	}
	args := []string{"mod", "edit"}
	for path, version := range m.requires {
		args = append(args, "-require="+path+"@"+version)
	}
	for path, dir := range m.replaces {
		args = append(args, "-replace="+path+"="+dir)
	}
	if out, err := exec.Command("go", append(args, file)...).CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, bytes.TrimSpace(out))
	}
	return nil
}
