package peers

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// The library as it was at an earlier commit is another module, so that both are in one program.
const (
	ourModule    = "github.com/rlock-go/redisson"
	beforeModule = "rlock.before"
	beforeTag    = "before"
)

// before puts the library as it was at rev below temp, under its other name, and returns what a build with it requires.
func (b builder) before(ctx context.Context, rev string) (module, error) {
	dir := filepath.Join(b.temp, beforeTag)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return module{}, err
	}
	// The root of the repository is the folder of the library's module.
	script := `cd "$(go list -m -f '{{.Dir}}' "$1")" && git archive "$2" | tar -x -C "$3"`
	cmd := exec.CommandContext(ctx, "bash", "-eo", "pipefail", "-c", script, "bash", ourModule, rev, dir)
	cmd.Dir = b.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return module{}, fmt.Errorf("the library at %s: %w\n%s", rev, err, bytes.TrimSpace(out))
	}
	if err := rename(dir); err != nil {
		return module{}, err
	}
	if out, err := exec.CommandContext(ctx, "go", "mod", "edit", "-module="+beforeModule, filepath.Join(dir, "go.mod")).CombinedOutput(); err != nil {
		return module{}, fmt.Errorf("%w\n%s", err, bytes.TrimSpace(out))
	}
	m, err := readModule(filepath.Join(dir, "go.mod"))
	if err != nil {
		return m, err
	}
	m.requires[beforeModule] = "v0.0.0"
	m.replaces = map[string]string{beforeModule: dir}
	return m, nil
}

// rename makes the library's files import each other by their other name.
func rename(dir string) error {
	return filepath.WalkDir(dir, func(file string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (e.Name() == "integration" || e.Name() == "docs"):
			return fs.SkipDir // these are separate modules
		case e.IsDir() || !strings.HasSuffix(file, ".go"):
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		return os.WriteFile(file, bytes.ReplaceAll(text, []byte(`"`+ourModule+`/`), []byte(`"`+beforeModule+`/`)), 0o644)
	})
}
