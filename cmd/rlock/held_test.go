package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/spf13/pflag"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/rlock"
)

func TestHeldHasAStatus(t *testing.T) {
	t.Parallel()
	url := single(t)
	c := open(t, url)
	h := acquire(t, c.NewLock("lock"))
	if out := ended(t, 0, url, "held", "lock"); !strings.Contains(out, "lock is held by "+h.Owner().String()+", TTL ") {
		t.Error(out)
	}
	if out := ended(t, 1, url, "held", "other"); out != "other is free\n" {
		t.Error(out)
	}
	if out := ended(t, notAcquired, url, "run", "--wait", "0", "lock", "--", "true"); !strings.HasPrefix(out, "rlock: lock is held by "+h.Owner().String()+", TTL ") {
		t.Error(out)
	}
	for command, is := range map[string]string{"SET text 1": "number", "SET text x": "string", "HSET text f 1": "hash"} {
		conn := redistest.Start(t)
		if _, err := conn.Dial(t).Do(strings.Fields(command)[0], words(command)[1:]...); err != nil {
			t.Fatal(err)
		}
		tool := begin(t, conn.URL(), "run", "--wait", "0", "text", "--", "true")
		if status := tool.status(); status != notAcquired && status != unreachable || !strings.Contains(tool.err.String(), "text is no lock, but a "+is) {
			t.Errorf("status %d: %s", status, &tool.err)
		}
	}
	ended(t, unreachable, "redis://127.0.0.1:1", "held", "lock", "--timeout", "300ms")
}

func TestPermitsAreSet(t *testing.T) {
	t.Parallel()
	url := single(t)
	c := open(t, url)
	acquire(t, c.NewLock("lock"))
	sem := c.NewPermitSemaphore("gate")
	if _, err := sem.TrySetPermits(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	if _, err := sem.TryAcquire(t.Context(), 2, rlock.Lease(10*patience)); err != nil {
		t.Fatal(err)
	}
	ended(t, usage, url, "permits", "gate", "set", "5") // there is no terminal to ask at
	ended(t, usage, url, "permits", "lock", "set", "5", "--yes")
	ended(t, usage, url, "permits", "gate", "add", "5")
	for _, row := range []struct {
		answer string
		want   int
	}{{"n\n", 3}, {"y\n", 5}} {
		tool := prepare(t, url, "permits", "gate", "set", "5")
		f, read := tool.onTerminal(pty.Winsize{Rows: 24, Cols: 80})
		tool.says("Set them to 5? [y/N]")
		if _, err := f.WriteString(row.answer); err != nil {
			t.Fatal(err)
		}
		if status := tool.status(); (status == 0) != (row.want == 5) {
			t.Errorf("status %d: %s", status, &tool.out)
		}
		<-read
		if n, err := sem.Total(t.Context()); err != nil || n != row.want {
			t.Errorf("%q: %d permits, %v: %s", row.answer, n, err, &tool.out)
		}
		if !strings.Contains(tool.out.String(), "of which 2 are taken") {
			t.Errorf("%s", &tool.out)
		}
	}
}

func TestVersionNamesGo(t *testing.T) {
	t.Parallel()
	if out := ended(t, 0, "", "--version"); !strings.HasPrefix(out, "rlock ") || !strings.Contains(out, "revision ") || !strings.Contains(out, runtime.Version()) {
		t.Error(out)
	}
}

// Each command has a page, which man takes without a warning.
func TestManualPages(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ended(t, 0, "", "man", dir)
	for _, c := range root().Commands() {
		page := filepath.Join(dir, "rlock-"+c.Name()+".1")
		text, err := os.ReadFile(page)
		if err != nil || !strings.Contains(string(text), c.Short) {
			t.Errorf("%s: %v", page, err)
			continue
		}
		if _, err := exec.LookPath("man"); err != nil {
			continue // the page is there, only man is missing
		}
		out, err := exec.Command("man", "--warnings", "-l", page).CombinedOutput()
		if err != nil || strings.Contains(string(out), "warning") || !strings.Contains(string(out), "SYNOPSIS") {
			t.Errorf("%v: %s", err, out)
		}
	}
}

// A flag is in its command's page, and the shell completes it.
func TestEachFlagIsInThePagesAndCompletes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ended(t, 0, "", "man", dir)
	for _, c := range root().Commands() {
		page, err := os.ReadFile(filepath.Join(dir, "rlock-"+c.Name()+".1"))
		if err != nil {
			t.Fatal(err)
		}
		completed := ended(t, 0, "", "__complete", c.Name(), "--")
		for _, flags := range []*pflag.FlagSet{c.LocalFlags(), c.InheritedFlags()} {
			flags.VisitAll(func(f *pflag.Flag) {
				if !strings.Contains(string(page), roff("--"+f.Name+" ")) || !strings.Contains(completed, "--"+f.Name) {
					t.Errorf("rlock %s lacks --%s", c.Name(), f.Name)
				}
			})
		}
	}
}

// An error has "rlock: " once, at its beginning, and says what to do.
func TestErrorTexts(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t, "--requirepass", "secret").Addr()
	for _, args := range [][]string{{"ls"}, {"run", "lock", "--", "true"}} {
		out := ended(t, unreachable, "redis://"+s, args...)
		if strings.Count(out, "rlock: ") != 1 || !strings.Contains(out, "a password is required: put it into the URL or use --password-file") || strings.Contains(out, "SETNAME") {
			t.Errorf("%q: %s", args, out)
		}
	}
}

func TestServerThatHangs(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	s.Pause()
	defer s.Resume()
	for _, args := range [][]string{{"ls"}, {"show", "lock"}, {"doctor"}, {"unlock", "--force", "--yes", "lock"}, {"run", "lock", "--", "true"}} {
		began := time.Now()
		out := ended(t, unreachable, s.URL(), append([]string{"--timeout", "500ms"}, args...)...)
		if !strings.Contains(out, s.Addr()+": it took the connection, and does not answer (i/o timeout)") {
			t.Errorf("%q: %s", args, out)
		}
		t.Logf("%q: after %v", args, time.Since(began).Round(time.Millisecond))
	}
}

func TestMakeInstall(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if out, err := exec.Command("make", "-C", "../..", "install", "PREFIX="+dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for file, has := range map[string]string{
		"share/man/man1/rlock-run.1": ".SH DESCRIPTION", "share/bash-completion/completions/rlock": "__rlock",
		"share/zsh/site-functions/_rlock": "#compdef rlock", "share/fish/vendor_completions.d/rlock.fish": "complete -c rlock",
	} {
		if text, err := os.ReadFile(filepath.Join(dir, file)); err != nil || !strings.Contains(string(text), has) {
			t.Errorf("%s: %v", file, err)
		}
	}
	out, err := exec.Command(filepath.Join(dir, "bin/rlock"), "--version").Output()
	git, noGit := os.Stat("../../.git") // Go finds no commit in a second work tree
	if err != nil || noGit == nil && git.IsDir() && strings.Contains(string(out), "not known") {
		t.Errorf("%s, %v", out, err)
	}
	t.Logf("%s", out)
}
