package javapeer

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/redistest"
)

// pathWithOnly makes a PATH on which just these tools are found.
func pathWithOnly(t *testing.T, tools ...string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range tools {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
}

// projectCopy is the Java project, unbuilt, in a folder of the test's own that
// becomes the working folder.
func projectCopy(t *testing.T) string {
	t.Helper()
	project, err := projectDir()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	to := filepath.Join(dir, "java")
	if err := os.CopyFS(filepath.Join(to, "src"), os.DirFS(filepath.Join(project, "src"))); err != nil {
		t.Fatal(err)
	}
	pom, err := os.ReadFile(filepath.Join(project, "pom.xml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(to, "pom.xml"), pom, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	return to
}

func TestMissingToolsAreNamed(t *testing.T) {
	projectCopy(t)
	for _, missing := range []string{"mvn", "java"} {
		if missing == "mvn" {
			pathWithOnly(t, "java")
		} else {
			pathWithOnly(t)
		}
		err := Build(t.Context(), Newest)
		if err == nil || !strings.Contains(err.Error(), "no "+missing+" in PATH: install") {
			t.Errorf("without %s: %v", missing, err)
		}
	}
}

func TestBuiltVersionNeedsNoMaven(t *testing.T) {
	if err := Build(t.Context(), Newest); err != nil {
		t.Fatal(err)
	}
	pathWithOnly(t, "java")
	if err := Build(t.Context(), Newest); err != nil {
		t.Fatal(err)
	}
}

// With -Xshare:on a JVM that can't use the archive does not start.
func TestJVMStartsFromTheArchive(t *testing.T) {
	server := redistest.Start(t)
	eachVersion(t, func(t *testing.T, version string) {
		if p := Start(t, version, server.Addr(), JVMArgs("-Xshare:on")); p.Stderr() != "" {
			t.Fatalf("the JVM wrote:\n%s", p.Stderr())
		}
	})
}

func TestConcurrentBuildsRunMavenOnceUntilASourceChanges(t *testing.T) {
	if err := Build(t.Context(), Newest); err != nil { // so that the libraries are at hand
		t.Fatal(err)
	}
	project := projectCopy(t)
	mvn, err := exec.LookPath("mvn")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	runs := filepath.Join(dir, "runs")
	script := fmt.Sprintf("#!/bin/sh\necho run >>'%s'\nexec '%s' \"$@\"\n", runs, mvn)
	if err := os.WriteFile(filepath.Join(dir, "mvn"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))

	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	buildAtOnce := func(want int) {
		t.Helper()
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				if err := Build(ctx, Newest); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		log, err := os.ReadFile(runs)
		if n := strings.Count(string(log), "run"); err != nil || n != want {
			t.Fatalf("Maven ran %d times, want %d, %v", n, want, err)
		}
	}
	buildAtOnce(1)
	source := filepath.Join(project, "src", "main", "java", "rlock", "peer", "Peer.java")
	f, err := os.OpenFile(source, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(f, "// changed")
	f.Close()
	buildAtOnce(2)

	// What does not compile is an error that shows why, and is not taken for built.
	if err := os.WriteFile(source, []byte("package rlock.peer; class Peer { nonsense }"), 0o644); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		err := Build(ctx, Newest)
		if err == nil || !strings.Contains(err.Error(), "Peer.java") || !strings.Contains(err.Error(), Newest) {
			t.Fatalf("a source that does not compile: %v", err)
		}
	}
}

func TestWaitForAnotherBuildEndsWithItsContext(t *testing.T) {
	project := projectCopy(t)
	unlock, err := lockFile(t.Context(), filepath.Join(project, "target", "build.lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := Build(ctx, Newest); err == nil || ctx.Err() == nil || !strings.Contains(err.Error(), "another build") {
		t.Fatal(err)
	}
}

func TestVersionMustBeOne(t *testing.T) {
	for _, v := range []string{"", "..", "4.7.0/..", "4.7.0 clean", "-f"} {
		if err := Build(t.Context(), v); err == nil || !strings.Contains(err.Error(), "not a Redisson version") {
			t.Errorf("%q: %v", v, err)
		}
	}
}
