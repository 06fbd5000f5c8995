package peers

import (
	"archive/zip"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// files writes a tree: names with slashes, and what is in them.
func files(t *testing.T, dir string, all map[string]string) {
	t.Helper()
	for name, text := range all {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// publish puts a version of a module of one file where a module proxy has it.
func publish(t *testing.T, proxy, path, version, requires, source string) {
	t.Helper()
	mod := "module " + path + "\ngo 1.26.0\n" + requires
	files(t, proxy, map[string]string{
		path + "/@v/" + version + ".info": `{"Version":"` + version + `"}`,
		path + "/@v/" + version + ".mod":  mod,
	})
	f, err := os.Create(filepath.Join(proxy, filepath.FromSlash(path), "@v", version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z := zip.NewWriter(f)
	for name, text := range map[string]string{"go.mod": mod, "lib.go": source} {
		w, err := z.Create(path + "@" + version + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
}

// aBenchmark is a program that prints what is built into it, and a proxy that has some of what its peers want.
func aBenchmark(t *testing.T) *builder {
	dir, proxy := t.TempDir(), t.TempDir()
	peer := func(name, lib string) string {
		return "//go:build " + name + "\n\npackage main\n\nimport lib \"example.com/" + lib + "\"\n\n" +
			"func init() { built = append(built, \"" + name + " with \"+lib.Version) }\n"
	}
	mod := func(requires string) string { return "module example.com/bench\n\ngo 1.26.0\n\n" + requires }
	files(t, dir, map[string]string{
		"go.mod":  mod(""),
		"go.sum":  "",
		"main.go": "package main\n\nimport (\"fmt\"; \"strings\")\n\nvar built []string\n\nfunc main() { fmt.Print(strings.Join(built, \", \")) }\n",

		"peer_early.go":   peer("early", "old"),
		"peers/early.mod": mod("require example.com/old v1.0.0\n"),
		"peers/early.sum": "",

		"peer_gone.go":   peer("gone", "gone"),
		"peers/gone.mod": mod("require example.com/gone v1.0.0\n"),
		"peers/gone.sum": "",

		// It is there, and what it requires is not.
		"peer_hollow.go":   peer("hollow", "hollow"),
		"peers/hollow.mod": mod("require example.com/hollow v1.0.0\n"),
		"peers/hollow.sum": "",

		"peer_late.go":   peer("late", "new"),
		"peers/late.mod": mod("require example.com/new v1.0.0\n"),
		"peers/late.sum": "",

		"peer_wrong.go":   "//go:build wrong\n\npackage main\n\nvar number int = \"a word\"\n",
		"peers/wrong.mod": mod(""),
		"peers/wrong.sum": "",
	})
	publish(t, proxy, "example.com/old", "v1.0.0", "", "package old\n\nconst Version = \"old 1.0\"\n")
	publish(t, proxy, "example.com/old", "v1.1.0", "", "package old\n\nconst Version = \"old 1.1\"\n")
	publish(t, proxy, "example.com/new", "v1.0.0", "require example.com/old v1.1.0\n",
		"package new\n\nimport \"example.com/old\"\n\nconst Version = \"new over \" + old.Version\n")
	publish(t, proxy, "example.com/hollow", "v1.0.0", "require example.com/gone v1.0.0\n",
		"package hollow\n\nimport \"example.com/gone\"\n\nconst Version = gone.Version\n")
	temp := t.TempDir()
	return &builder{wanted: Wanted{Others: true}, dir: dir, temp: temp, binary: filepath.Join(temp, "bench"), env: []string{
		"GOPROXY=file://" + filepath.ToSlash(proxy), "GONOSUMDB=*", "GOWORK=off",
		"GOMODCACHE=" + t.TempDir(), "GOFLAGS=-modcacherw -buildvcs=false",
	}}
}

func TestPeersAreBuiltInButForThoseThatCanNotBeHad(t *testing.T) {
	b := aBenchmark(t)
	missing, err := b.build(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(b.binary).CombinedOutput()
	if want := "early with old 1.1, late with new over old 1.1"; err != nil || string(out) != want {
		t.Errorf("built in: %s, %v; want %s", out, err, want)
	}
	for name, whys := range map[string][]string{
		"gone":   {"example.com/gone@v1.0.0"},
		"hollow": {"example.com/gone@v1.0.0"},
		"wrong":  {"peer_wrong.go:5", `"a word"`},
	} {
		if missing[name] == nil {
			t.Errorf("%s is not missing", name)
			continue
		}
		reason := missing[name].reason()
		for _, why := range whys {
			if !strings.Contains(reason, why) {
				t.Errorf("%s is missing for %q, which lacks %q", name, reason, why)
			}
		}
		if strings.Contains(reason, "://") || strings.Contains(reason, "\n") {
			t.Errorf("%s is missing for %q, too much for a table", name, reason)
		}
	}
	if len(missing) != 3 {
		t.Errorf("missing are %v", missing)
	}
}

func TestBenchmarkItselfMustBuild(t *testing.T) {
	b := aBenchmark(t)
	files(t, b.dir, map[string]string{"main.go": "package main\n"})
	if _, err := b.build(t.Context()); err == nil {
		t.Error("a program without main was built")
	}
}

func TestInterruptedBuildMissesNobody(t *testing.T) {
	b := aBenchmark(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if missing, err := b.build(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, missing %v", err, missing)
	}
}

// The checkout's own newest commit is built in beside what is in its working tree.
func TestLibraryOfAnEarlierCommitIsBuiltInBesideThis(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(t.TempDir(), "bench")
	if _, err := Build(t.Context(), dir, binary, Wanted{Before: "HEAD"}, t.Output()); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "version", "-m", binary).Output()
	if err != nil || !strings.Contains(string(out), beforeModule+"\t") {
		t.Errorf("%v, %s", err, out)
	}
	if _, err := Build(t.Context(), dir, binary, Wanted{Before: "no-such-commit"}, t.Output()); err == nil {
		t.Error("a commit that is not there was built in")
	}
}
