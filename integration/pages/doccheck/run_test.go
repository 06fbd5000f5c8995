package doccheck

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/integration/kit/testbed"
)

// patience bounds one job; a machine's first job also builds.
const patience = 3 * time.Minute

func TestEveryCommandOfTheManualIsRun(t *testing.T) {
	t.Parallel()
	jobs, wrong := thisCheckout(t).jobs(ways)
	none(t, wrong)
	clone := thisCheckout(t).clone(t)
	for _, j := range jobs {
		t.Run(j.at, func(t *testing.T) {
			t.Parallel()
			j.run(t, clone)
		})
	}
}

// clone copies the checkout without the files that git ignores.
func (c *checkout) clone(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range sorted(c.entries) {
		from, to := filepath.Join(c.root, name), filepath.Join(dir, name)
		info, err := os.Stat(from)
		if err == nil && info.IsDir() {
			err = os.MkdirAll(to, 0o755)
		} else if err == nil {
			var text []byte
			text, err = os.ReadFile(from)
			err = errors.Join(err, os.WriteFile(to, text, info.Mode().Perm()))
		}
		testbed.Must(t, err)
	}
	return dir
}

// run types the lines as a reader would, in the clone or in the reader's own module.
func (j job) run(t *testing.T, clone string) {
	script := strings.Join(j.lines, "\n")
	dir, path := clone, os.Getenv("PATH")
	var prints []string
	for _, w := range j.ways {
		if w.prints != "" {
			prints = append(prints, w.prints)
		}
		for pair := range slices.Chunk(w.instead, 2) {
			script = strings.ReplaceAll(script, pair[0], pair[1])
		}
	}
	if slices.ContainsFunc(j.ways, func(w way) bool { return w.reader }) {
		dir = readersModule(t)
		script += "\ngo build ./..."
		if strings.Contains(script, "rlocktest") {
			script += "\ngo test ./..."
			testbed.Must(t, os.WriteFile(filepath.Join(dir, "main_test.go"), []byte(readersTest(t)), 0o644))
		}
		script = strings.ReplaceAll(script, "/path/to/checkout", "'"+clone+"'")
	}
	if slices.ContainsFunc(j.ways, func(w way) bool { return w.server }) {
		server := redisserver.Local(t)
		host, port, _ := strings.Cut(server.Addr(), ":")
		script = strings.NewReplacer("redis://host:port", server.URL(), "redis://localhost:6379", server.URL()).Replace(script)
		shim := t.TempDir()
		real, err := exec.LookPath("redis-cli")
		testbed.Must(t, err)
		text := "#!/bin/sh\nexec '" + real + "' -e -h " + host + " -p " + port + " \"$@\"\n"
		testbed.Must(t, os.WriteFile(filepath.Join(shim, "redis-cli"), []byte(text), 0o755))
		path = shim + string(os.PathListSeparator) + path
	}
	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	testbed.Must(t, err)
	// go mod tidy keeps checksums under GOPATH, and HOME may be read-only. Without the clone's path in them, compiled packages are
	// found again by the next run, whose clone is elsewhere.
	env := append(withoutServer(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -trimpath", "PATH="+path, "GOBIN="+t.TempDir(), "GOPATH="+t.TempDir(), "GOMODCACHE="+strings.TrimSpace(string(cache)))
	out, err := inShell(t, dir, env, script)
	if err != nil {
		t.Fatalf("%s\n%s%v", script, out, err)
	}
	for _, w := range j.ways {
		for _, file := range w.keeps {
			was, err := os.ReadFile(filepath.Join(thisCheckout(t).root, file))
			is, err2 := os.ReadFile(filepath.Join(clone, file))
			if err != nil || err2 != nil || !bytes.Equal(was, is) {
				t.Errorf("%s\n%swrites another %s (%v, %v)", script, out, file, err, err2)
			}
		}
	}
	for _, want := range prints {
		if !strings.Contains(out, want) {
			t.Errorf("%s\n%shas no %q", script, out, want)
		}
	}
}

// inShell runs a script and returns its output.
func inShell(t *testing.T, dir string, env []string, script string) (string, error) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	shell := exec.CommandContext(ctx, "bash", "-eo", "pipefail", "-c", script)
	shell.Dir, shell.Env, shell.WaitDelay = dir, env, time.Second
	out, err := shell.CombinedOutput()
	return string(out), err
}

// withoutServer returns the environment without the server that is meant for other tests.
func withoutServer() []string {
	return slices.DeleteFunc(os.Environ(), func(s string) bool { return strings.HasPrefix(s, "REDIS_URL=") })
}

// readersModule is a reader's program that uses the library.
func readersModule(t *testing.T) string {
	t.Helper()
	return folder(t, map[string]string{
		"go.mod":  readersMod,
		"main.go": "package main\n\nimport \"" + modulePath + "/rlock\"\n\nfunc main() { println(rlock.ErrLocked.Error()) }\n",
	})
}

// readersTest returns all code of the page about tests, exactly as it is there.
func readersTest(t *testing.T) string {
	t.Helper()
	text := "package main\n\n"
	for _, b := range thisCheckout(t).pages["docs/testing.md"].blocks {
		if b.language == "go" {
			text += b.indented("") + "\n"
		}
	}
	return text
}
