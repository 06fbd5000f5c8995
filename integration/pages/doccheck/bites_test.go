package doccheck

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// small is a checkout in which nothing is wrong.
var small = map[string]string{
	".ci/run":                    "#!/bin/sh\nexec make test\n",
	".github/workflows/test.yml": "jobs:\n  a:\n    steps:\n      - run: make test\n",
	"Makefile": ".PHONY: test\ntest:\n\t@$(MAKE) unit integration\n\nunit:\n\t@go test ./...\n\nintegration: unit\n\t@cd integration && go test ./...\n\t@cd docs/show && go test ./...\n\n" +
		"long:\n\t@cd tool && go run . -size 3 $(FLAGS)\n\n.PHONY: torture\ntorture:\n\t@cd integration && go test ./chaos/torture\n",
	"rlock/doc.go":                        "// Package rlock is small.\npackage rlock\n",
	"rlock/lock.go":                       lockSource,
	"rlock/lock_test.go":                  "package rlock\n\nfunc TestLockLocks() {\n\thold := rlock.Lock{}\n}\n",
	"tool/main.go":                        "// Command tool does little.\npackage main\n\nimport (\n\t\"flag\"\n\n\t_ \"github.com/rlock-go/redisson/rlock\"\n)\n\nvar size = flag.Int(\"size\", 1, \"\")\n\nfunc main() {}\n",
	"docs/show/go.mod":                    "module show\n",
	"docs/show/main.go":                   "// Command show shows.\npackage main\n\nfunc main() {}\n",
	"integration/go.mod":                  "module a\n",
	"integration/a/a_test.go":             "// Package a tests.\npackage a\n\nfunc TestA() {}\n",
	"integration/chaos/torture/a_test.go": "// Package torture tests.\npackage torture\n",
	"docs/picture.svg":                    "<svg/>\n",
	"docs/more.md":                        "# More\n\n## What `Lock` does, and not\n\n## Twice\n\n## Twice\n\nBack to [the start](../README.md#small).\n",
	"README.md":                           readme,
	"LICENSE":                             "Apache License\n\nEND OF TERMS AND CONDITIONS\n",
	"NOTICE":                              "Copyright of those who wrote it\n",
	"CHANGELOG.md":                        "# Changelog\n\n## [Unreleased]\n\n[Unreleased]: README.md\n",
	"CONTRIBUTING.md":                     "# Contributing\n\n| folder of `integration` | shows |\n|---|---|\n| `a` | all |\n| `chaos` | chance |\n\n| folder | is | imports |\n|---|---|---|\n| `tool` | a tool | `rlock` |\n| `rlock` | small | nothing |\n\n## Requirements\n\nGo, `redis-server` and `libc6-dev`.\n\n## Licence\n",
	"SECURITY.md":                         "# Security\n",
	"integration/setup.sh":                "case $1 in\n  all) wanted='redis-server:redis-server gcc:libc6-dev' ;;\nesac\n",
}

const lockSource = `package rlock

// ErrLocked is somebody else's.
var ErrLocked error

// Lock is a lock.
type Lock struct {
	Name string // its name
	rest int
}

// Pool has a method, Take.
type Pool interface{ Take() }

// Lock locks.
func (l *Lock) Lock() {}

// The kinds, Plain and Fair.
const (
	Plain = 1
	Fair  = 2
)
`

const readme = `# Small

See [more](docs/more.md#what-lock-does-and-not), [again](docs/more.md#twice-1), [the code](rlock/lock.go#L3-L4),
![a picture](docs/picture.svg), [a label][more] and [elsewhere](https://example.com/gone).

[more]: docs/more.md

    make test    # all of it

It is ` + "`Lock.Lock`, `rlock.Lock.Name`, `ErrLocked`, tested by `TestLockLocks` and a.TestA in `rlock/lock_test.go:2`; `make long` with `-size 3`." + `

- a list

      not a block

` + "```sh" + `
cd tool && \
  go run . -size 2 # two
` + "```" + `

` + "```bash" + `
go test -run 'Lock|None' ./rlock
go doc ./rlock Lock.Lock
` + "```" + `

` + "```console" + `
$ redis-cli get x | head -n 1
whatever comes of it
` + "```" + `

` + "```go" + `
hold := rlock.Lock{}
` + "```" + `

## Licence

It is free.
`

// smallWays has the ways of the small checkout's commands.
func smallWays() map[string]way {
	return map[string]way{
		"make test": {ci: true}, "make long": {part: "integration/a.TestA"},
		"cd tool && go run . -size 2": {run: true}, "go test -run 'Lock|None' ./rlock": {target: "unit"},
	}
}

func (c *checkout) allWrong(ways map[string]way) []string {
	_, unrun := c.jobs(ways)
	return slices.Concat(c.brokenLinks(), c.badCommands(), c.unknownNames(), c.packaging(), c.badImports(), c.badFolders(), c.workflows(), c.snippets(), c.toldOtherwise(), unrun)
}

func write(t *testing.T, files map[string]string) *checkout {
	t.Helper()
	return readCheckout(t, folder(t, files))
}

// folder makes a new folder with files.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		file := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestNothingIsWrongWithTheSmallCheckout(t *testing.T) {
	c := write(t, small)
	none(t, c.allWrong(smallWays()))
	jobs, _ := c.jobs(smallWays())
	var lines []string
	for _, j := range jobs {
		lines = append(lines, j.lines...)
	}
	want := []string{"cd tool && go run . -size 2", "go doc ./rlock Lock.Lock", "redis-cli get x | head -n 1"}
	if !slices.Equal(lines, want) {
		t.Errorf("to be run are %q, want %q", lines, want)
	}
}

func TestEveryMistakeIsFound(t *testing.T) {
	t.Parallel()
	for _, m := range []struct{ name, file, old, new, want string }{
		{"link to no file", "README.md", "[more](docs/more.md#what", "[more](docs/less.md#what", "README.md:3: link to docs/less.md"},
		{"link to no heading", "docs/more.md", "#small", "#smaller", "docs/more.md:9: link to ../README.md#smaller: no such heading"},
		{"heading that was renamed", "docs/more.md", "does, and", "does and", ""},
		{"heading that is gone", "docs/more.md", "and not", "or not", "no such heading"},
		{"second heading that is gone", "docs/more.md", "## Twice\n\n## Twice", "## Twice", "more.md#twice-1: no such heading"},
		{"link to a line that is gone", "README.md", "#L3-L4", "#L3-L99", "the file has"},
		{"image that is missing", "README.md", "picture.svg", "image.svg", "link to docs/image.svg: no such file"},
		{"label that is missing", "README.md", "[more]: docs/more.md\n", "\n", "link to [more]"},
		{"label that leads nowhere", "README.md", "[more]: docs/more.md", "[more]: docs/most.md", "link to docs/most.md"},
		{"link from the root of the disk", "README.md", "(docs/picture", "(/docs/picture", "not relative"},

		{"target that is gone", "Makefile", "long:", "longer:", "make long: no target long"},
		{"variable that is gone", "README.md", "`make long`", "`make long SIZE=3`", "the Makefile has no $(SIZE)"},
		{"flag in a variable", "README.md", "`make long`", "`make long FLAGS=-depth`", "nothing there defines -depth"},
		{"folder that is gone", "README.md", "cd tool", "cd tools", "no folder tools"},
		{"flag that is gone", "tool/main.go", `"size"`, `"extent"`, "nothing there defines -size"},
		{"program that is none", "README.md", "cd tool && \\\n  go run . -size 2", "go run ./rlock", "rlock is no program"},
		{"flag in the text that is gone", "README.md", "`-size 3`", "`-sizes 3`", "no program defines -sizes"},
		{"package that is gone", "README.md", "None' ./rlock", "None' ./lock", "no package ./lock"},
		{"flag that go test lacks", "README.md", "go test -run", "go test -deep -run", "nothing there defines -deep"},
		{"flag that go build lacks", "README.md", "go test -run 'Lock|None'", "go build -fast", "go build has no flag -fast"},
		{"pattern without a test", "README.md", "Lock|None", "Key|None", "Key|None matches nothing"},
		{"symbol that is gone", "README.md", "./rlock Lock.Lock\n", "./rlock Lock.Unlock\n", "no Lock.Unlock there"},
		{"command that nobody has", "README.md", "redis-cli get", "redis-cly get", "no command redis-cly"},
		{"script that is gone", "README.md", "cd tool &&", "./setup.sh &&", "no setup.sh"},
		{"quote without an end", "README.md", "None' ./rlock", "None ./rlock", "without its end"},
		{"block of no language", "README.md", "```console", "```", `a block of language ""`},

		{"test that is gone", "rlock/lock_test.go", "TestLockLocks", "TestLock", "there is no test TestLockLocks"},
		{"test of another package", "README.md", "a.TestA", "a.TestLockLocks", "there is no test a.TestLockLocks"},
		{"method that is gone", "README.md", "`Lock.Lock`", "`Lock.Unlock`", "package rlock has no Lock.Unlock"},
		{"field that is gone", "README.md", "`rlock.Lock.Name`", "`rlock.Lock.Key`", "package rlock has no Lock.Key"},
		{"error that is gone", "README.md", "`ErrLocked`", "`ErrFree`", "package rlock has no ErrFree"},
		{"name in Go that is gone", "README.md", "rlock.Lock{}", "rlock.Key{}", "package rlock has no Key"},
		{"Go that no file has", "rlock/lock_test.go", "hold :=", "held :=", "README.md:32: no file has this code"},
		{"Go that is none", "README.md", "hold := ", "hold := := ", "no Go:"},
		{"path that is gone", "README.md", "`rlock/lock_test.go:2`", "`rlock/locks_test.go:2`", "no file or folder rlock/locks_test.go"},

		{"line that is gone", "README.md", "lock_test.go:2", "lock_test.go:99", "rlock/lock_test.go has 5 lines"},
		{"page that a comment names", "rlock/doc.go", "is small", "is small, see docs/less.md", "there is no docs/less.md"},

		{"licence that is cut off", "LICENSE", "END OF TERMS AND CONDITIONS\n", "", "LICENSE is not the whole text"},
		{"changelog without what comes next", "CHANGELOG.md", "## [Unreleased]", "## [0.1.0]", "no section [Unreleased]"},
		{"package that the requirements do not name", "integration/setup.sh", "gcc:libc6-dev", "gcc:libc6-dev gcc:gcc", "do not name `gcc`"},
		{"loss that is told in another time", "README.md", "- a list", "- at once, or within a second if the\n  lock was taken less than two seconds ago", "a loss is told"},
		{"loss that is told in other words", "rlock/lock.go", "package rlock", "// Package rlock tells of a loss at once, as\n// a rule.\npackage rlock", "a loss is told"},
		{"package that only another section names", "CONTRIBUTING.md", " and `libc6-dev`.\n\n## Licence", ".\n\n## Licence\n\n`libc6-dev`", "do not name `libc6-dev`"},
		{"list of packages that moved", "integration/setup.sh", "wanted=", "needed=", "installs no package"},

		{"import that is gone", "tool/main.go", "\t_ \"github.com/rlock-go/redisson/rlock\"\n", "", `tool imports [], the table says ["rlock"]`},
		{"import that the table lacks", "CONTRIBUTING.md", "`rlock` |\n| `rlock`", "nothing |\n| `rlock`", `tool imports ["rlock"], the table says []`},
		{"folder of integration that the table lacks", "CONTRIBUTING.md", "| `a` | all |\n| `chaos`", "| `chaos`", "folders lacks a"},
		{"folder of integration that is gone", "CONTRIBUTING.md", "| `a` | all |\n", "| `a` | all |\n| `b` | all |\n", "no folder integration/b"},
		{"folder of the table that is gone", "CONTRIBUTING.md", "| `rlock` | small", "| `lock` | small", "there is no package lock"},

		{"module that is not tested", "Makefile", "docs/show &&", "docs/shows &&", "make test does not test the module docs/show"},
		{"new command", "README.md", "make test    # all of it", "make test    # all of it\n    make unit", `nothing runs "make unit"`},
		{"command that is gone", "README.md", "    make test    # all of it\n", "", `no page has "make test" any more`},
		{"CI that runs something else", ".ci/run", "make test", "make unit", "nothing in .ci runs make test"},
		{"workflow that runs something else", ".github/workflows/test.yml", "make test", "go test", `test.yml runs "go test", which is no target`},
		{"workflow that leaves something out", ".github/workflows/test.yml", "      - run: make test\n", "", `no workflow runs "make test"`},
		{"step that is not made any more", "Makefile", "unit integration\n", "\n", "make test does not make unit"},
		{"step that tests less", "Makefile", "go test ./...", "go test ./rlock", "unit does not test ./..."},
		{"module that is not tested any more", "Makefile", "cd integration &&", "cd integrations &&", "make test does not test integration/a"},
		{"smaller form that is gone", "integration/a/a_test.go", "TestA", "TestB", "there is no integration/a.TestA"},
	} {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			files := maps.Clone(small)
			if strings.Count(files[m.file], m.old) == 0 {
				t.Fatalf("%s has no %q", m.file, m.old)
			}
			files[m.file] = strings.Replace(files[m.file], m.old, m.new, 1)
			wrong := write(t, files).allWrong(smallWays())
			found := slices.ContainsFunc(wrong, func(w string) bool { return strings.Contains(w, m.want) })
			if m.want == "" && len(wrong) > 0 || m.want != "" && !found {
				t.Errorf("want %q, found %q", m.want, wrong)
			}
		})
	}
}
