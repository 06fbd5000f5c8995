package doccheck

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/integration/kit/testbed"
)

var full = flag.Bool("full", false, "also fetch, build and use each module as a reader would")

// A fetch is how a reader, in an empty folder, gets one module by its import path and first uses it.
type fetch struct {
	page  string            // the page that has the line
	line  string            // "" if no page needs one
	files map[string]string // the folder's files
	use   string            // a script, run after the line
	says  string            // what it must print
}

const (
	readersMod  = "module example.com/reader\n\ngo 1.26\n"
	readersMain = `package main

import (
	"context"
	"fmt"
	"os"

	"github.com/rlock-go/redisson/rlock"
IMPORTS)

func main() {
	ctx := context.Background()
	OBSERVER
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"), rlock.WithObserver(observer))
	if err != nil {
		panic(err)
	}
	defer client.Close()
	err = client.NewLock("invoices").Do(ctx, func(context.Context) error { return nil })
	fmt.Println("worked:", err)
}
`
)

// observing is a reader's module, whose program takes a lock with an observer.
func observing(page, line, imports, observer string) fetch {
	return fetch{page: page, line: line, use: "go run .", says: "worked: <nil>", files: map[string]string{
		"go.mod":  readersMod,
		"main.go": strings.NewReplacer("IMPORTS", imports, "OBSERVER", observer).Replace(readersMain),
	}}
}

// fetches has a fetch for each tagged module, by the module's folder.
func fetches(t *testing.T) map[string]fetch {
	return map[string]fetch{
		".": observing("README.md", "go get github.com/rlock-go/redisson/rlock", "", "observer := rlock.Observer{}"),
		"cmd/rlock": {
			page: "README.md", line: "go install github.com/rlock-go/redisson/cmd/rlock@latest",
			use: `"$GOBIN/rlock" run invoices -- echo worked`, says: "worked",
		},
		"rlocktest": {
			page: "docs/testing.md", line: "go get github.com/rlock-go/redisson/rlocktest",
			files: map[string]string{"go.mod": readersMod, "main_test.go": readersTest(t)},
			use:   "go test .", says: "ok",
		},
		"rlockprom": observing("docs/operations.md", "go get github.com/rlock-go/redisson/rlockprom",
			"\t\"github.com/rlock-go/redisson/rlockprom\"\n", "observer := rlockprom.New().Observer()"),
		"rlockotel": observing("docs/operations.md", "go get github.com/rlock-go/redisson/rlockotel",
			"\t\"github.com/rlock-go/redisson/rlockotel\"\n", "observer, err := rlockotel.New()\n\tif err != nil {\n\t\tpanic(err)\n\t}"),
		"docs/quickstart": {
			page: "docs/quickstart/README.md", line: "go run github.com/rlock-go/redisson/docs/quickstart@latest",
			says: "Done in",
		},
		// Building the database of the fencing example takes a minute and would show nothing more.
		"docs/cookbook": {
			use: "go install -n github.com/rlock-go/redisson/docs/cookbook/...@latest 2>&1 | grep -c /fencing/\n" +
				"go install github.com/rlock-go/redisson/docs/cookbook/leader@latest\n\"$GOBIN/leader\" -h 2>&1",
			says: "Usage of",
		},
	}
}

// The test zips the modules of this tree as the go command would zip them from tags, and serves them from a folder as
// proxy. The reader's module cache is empty, and the reader has neither go.work nor a replace. All is compiled anew for
// it, so a plain run only looks at the pages' lines, and at the modules.
func TestEveryModuleIsFetchedByItsImportPath(t *testing.T) {
	t.Parallel()
	c := thisCheckout(t)
	clone := c.clone(t)
	rows := fetches(t)
	none(t, untagged(t, clone, rows))
	for _, f := range rows {
		if f.line != "" && !strings.Contains(c.text(f.page), "\n    "+f.line) {
			t.Errorf("%s has no %q", f.page, f.line)
		}
	}
	if !*full {
		return
	}
	env := append(fromProxy(t, clone), "REDIS_URL="+redisserver.Local(t).URL())
	for dir, f := range rows {
		t.Run(dir, func(t *testing.T) {
			home := folder(t, f.files)
			out, err := inShell(t, home, append(slices.Clip(env), "GOBIN="+t.TempDir()), f.line+"\n"+f.use)
			if err != nil || !strings.Contains(out, f.says) {
				t.Errorf("%s\n%s\n%s%v; want %q", f.line, f.use, out, err, f.says)
			}
		})
	}
}

// go.work hides a requirement that a module lacks if a neighbour has it.
func TestEveryModuleNamesWhatItNeeds(t *testing.T) {
	t.Parallel()
	c := thisCheckout(t)
	clone := c.clone(t)
	mods := modules(t, clone)
	list := "go mod edit"
	for dir, mod := range mods {
		list += " -replace=" + mod.Module.Mod.Path + "=" + filepath.Join(clone, dir)
	}
	list += " && go list -deps -test ./... >/dev/null"
	env := append(withoutServer(), "GOWORK=off", "GOFLAGS=-mod=mod -modcacherw -buildvcs=false", "GOSUMDB=off")
	for _, dir := range sorted(mods) {
		if strings.HasPrefix(dir, "integration") {
			continue // never fetched
		}
		if out, err := inShell(t, filepath.Join(clone, dir), env, list); err != nil {
			t.Errorf("%s: %s%v", dir, out, err)
		}
		for _, name := range []string{"go.mod", "go.sum"} {
			is, err := os.ReadFile(filepath.Join(clone, dir, name))
			testbed.Must(t, err)
			for line := range strings.Lines(string(is)) {
				replaced := strings.HasPrefix(line, "replace (") || strings.Contains(line, " => ")
				if !replaced && !strings.Contains(c.text(path.Join(dir, name)), line) && !strings.HasPrefix(line, modulePath) {
					t.Errorf("%s/%s lacks %s", dir, name, line)
				}
			}
		}
	}
}

// modules returns the modules of go.work, by their folders.
func modules(t *testing.T, clone string) map[string]*modfile.File {
	t.Helper()
	read := func(name string) []byte {
		text, err := os.ReadFile(filepath.Join(clone, name))
		testbed.Must(t, err)
		return text
	}
	work, err := modfile.ParseWork("go.work", read("go.work"), nil)
	testbed.Must(t, err)
	found := map[string]*modfile.File{}
	for _, use := range work.Use {
		name := path.Join(use.Path, "go.mod")
		if found[path.Clean(use.Path)], err = modfile.Parse(name, read(name), nil); err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// untagged lists modules that are neither tests nor in a row, and modules that nobody could install.
func untagged(t *testing.T, clone string, rows map[string]fetch) (wrong []string) {
	for dir, mod := range modules(t, clone) {
		if strings.HasPrefix(dir, "integration") {
			continue
		}
		if _, ok := rows[dir]; !ok {
			wrong = append(wrong, dir+" is fetched by no test")
		}
		if len(mod.Replace) > 0 {
			wrong = append(wrong, dir+"/go.mod has a replace, so go install refuses it by its path")
		}
	}
	return wrong
}

// fromProxy serves a clone's modules in the version that they require of each other. It returns the environment of a go
// command that takes them from there, and the rest from the outer cache, which serves as a proxy too, or from the
// machine's proxy.
func fromProxy(t *testing.T, clone string) []string {
	t.Helper()
	proxy := t.TempDir()
	mods := modules(t, clone)
	at := slices.IndexFunc(mods["cmd/rlock"].Require, func(r *modfile.Require) bool { return r.Mod.Path == modulePath })
	version := mods["cmd/rlock"].Require[at].Mod.Version
	for dir, mod := range mods {
		publish(t, filepath.Join(proxy, mod.Module.Mod.Path, "@v"), filepath.Join(clone, dir), module.Version{Path: mod.Module.Mod.Path, Version: version})
	}
	outer, err := exec.Command("go", "env", "GOMODCACHE", "GOPROXY").Output()
	testbed.Must(t, err)
	cache, others, _ := strings.Cut(strings.TrimSpace(string(outer)), "\n")
	// Without the paths of this run's folder, the compiler's cache has the reader's packages from the last run.
	return append(withoutServer(), "GOPROXY=file://"+proxy+",file://"+cache+"/cache/download,"+others, "GOMODCACHE="+t.TempDir(),
		"GOFLAGS=-modcacherw -buildvcs=false -trimpath", "GOSUMDB=off", "GONOPROXY=", "GOPRIVATE=")
}

// publish puts one version of a module into the folder of a proxy.
func publish(t *testing.T, proxy, dir string, m module.Version) {
	t.Helper()
	testbed.Must(t, os.MkdirAll(proxy, 0o755))
	info, err := json.Marshal(map[string]any{"Version": m.Version, "Time": time.Now().UTC()})
	testbed.Must(t, err)
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	testbed.Must(t, err)
	for name, text := range map[string][]byte{"list": []byte(m.Version + "\n"), m.Version + ".info": info, m.Version + ".mod": mod} {
		testbed.Must(t, os.WriteFile(filepath.Join(proxy, name), text, 0o644))
	}
	file, err := os.Create(filepath.Join(proxy, m.Version+".zip"))
	testbed.Must(t, err)
	defer file.Close()
	testbed.Must(t, zip.CreateFromDir(file, m, dir))
}
