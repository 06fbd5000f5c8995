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

// Wanted says what Build adds to the benchmark's own peers.
type Wanted struct {
	Others bool   // every peer of others that can be had
	Before string // the library at this commit; empty: none
	// Program is the program's folder, relative to the benchmark's, beginning with ./; empty means the benchmark.
	Program string
}

// Build builds the binary in the benchmark's folder. It keeps each peer of others that builds with those before it, and
// returns by name why the others are missing. It fails if the benchmark does not build without them, or the earlier
// commit can't be had. The go command's output for missing peers goes to log.
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
	dir     string // the benchmark's folder
	temp    string // for module files
	binary  string // the output
	program string // the program's folder
}

// compile builds the binary with these tags. If that fails, an older binary stays.
func (b builder) compile(ctx context.Context, m module, tags []string) error {
	file := filepath.Join(b.temp, "bench.mod")
	if err := m.write(file); err != nil {
		return err
	}
	// -mod=mod: requirements that are each complete may raise each other's versions.
	cmd := exec.CommandContext(ctx, "go", "build", "-mod=mod", "-modfile="+file, "-tags="+strings.Join(tags, ","), "-o", b.binary, b.program)
	cmd.Dir = b.dir
	cmd.Env = append(os.Environ(), "GOWORK=off") // -modfile does not work with go.work
	if out, err := cmd.CombinedOutput(); err != nil {
		return &buildError{err, string(out)}
	}
	return nil
}

// buildError has the output of the go command.
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

// reason is a short form of it for a table: the first error, without the addresses of module proxies.
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
	text     []byte            // of the go.mod
	requires map[string]string // to add to it: versions by module path
	replaces map[string]string // to add to it: folders by module path
	sum      []byte
}

// readModule reads a file of requirements and its sums.
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

// add returns m with the requirements of other that m lacks. If m has another version, the build may raise it.
func (m module) add(other module) module {
	requires := maps.Clone(other.requires)
	maps.Copy(requires, m.requires)
	replaces := m.replaces
	if replaces == nil {
		replaces = other.replaces
	}
	return module{text: m.text, requires: requires, replaces: replaces, sum: slices.Concat(m.sum, other.sum)}
}

// write writes the module's files for -modfile.
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
