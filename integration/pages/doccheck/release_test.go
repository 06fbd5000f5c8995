package doccheck

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// repository makes a clone in which everything is committed.
func repository(t *testing.T) string {
	t.Helper()
	clone := thisCheckout(t).clone(t)
	git(t, clone, "git init -q && git add -A && git commit -qm all")
	return clone
}

// inClone returns the environment of git commands that must touch only the clone.
func inClone(clone string) []string {
	return append(os.Environ(), "GIT_DIR="+filepath.Join(clone, ".git"), "GIT_WORK_TREE="+clone, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
}

func git(t *testing.T, clone, script string) string {
	t.Helper()
	out, err := inShell(t, clone, inClone(clone), script)
	if err != nil {
		t.Fatalf("%s: %s%v", script, out, err)
	}
	return out
}

func TestReleaseWritesVersionsAndPrintsTags(t *testing.T) {
	t.Parallel()
	clone := repository(t)
	release := "make -s release VERSION=v0.9.8 passing='grep -c redisson.v0.9.8 cmd/rlock/go.mod'"
	if out, err := inShell(t, clone, inClone(clone), strings.Replace(release, "v0.9.8", "0.9", 1)); err == nil || !strings.Contains(out, "VERSION=0.9") {
		t.Errorf("a version that is none: %s%v", out, err)
	}
	git(t, clone, "echo >>README.md")
	if out, err := inShell(t, clone, inClone(clone), release); err == nil || !strings.Contains(out, "not committed") {
		t.Errorf("a tree with a change: %s%v", out, err)
	}
	git(t, clone, "git checkout -q README.md")
	if out, err := inShell(t, clone, inClone(clone), strings.Replace(release, "grep -c", "false", 1)); err == nil || !strings.Contains(out, "that failed") {
		t.Errorf("what must pass fails: %s%v", out, err)
	}
	git(t, clone, "git checkout -q .")
	out := git(t, clone, release)
	for dir, mod := range modules(t, clone) {
		for _, r := range mod.Require {
			if strings.HasPrefix(r.Mod.Path, modulePath) && r.Mod.Version != "v0.9.8" {
				t.Errorf("%s requires %s", dir, r.Mod)
			}
		}
		tag := "git tag " + strings.TrimPrefix(dir+"/", "./") + "v0.9.8\n"
		if strings.Contains(out, tag) == strings.HasPrefix(dir, "integration") {
			t.Errorf("%q among the tags:\n%s", tag, out)
		}
	}
	text, err := os.ReadFile(filepath.Join(clone, "CHANGELOG.md"))
	if err != nil || !strings.Contains(string(text), "\n## [Unreleased]\n\n## [0.9.8] - ") || !strings.Contains(string(text), "compare/v0.9.8...main\n[0.9.8]: ") {
		t.Errorf("the changelog is\n%s%v", text, err)
	}
	if out, err := inShell(t, clone, inClone(clone), "git commit -qam v0.9.8 && "+release); err == nil || !strings.Contains(out, "CHANGELOG.md has v0.9.8") {
		t.Errorf("the same again: %s%v", out, err)
	}
}
