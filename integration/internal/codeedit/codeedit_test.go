package codeedit

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const code = `package a

type t struct{ n int }

func (x *t) add(n int) int {
	if n < 0 { // nothing below zero
		return 0
	}
	x.n += n
	log("added",
		n)
	log("sum", x.n)
	switch {
	case n == 1, n == 2:
		x.n++
	}
	return x.n
}

func twin() {}
`

// module writes a module of these files and reads it.
func module(t *testing.T, files map[string]string) (*Module, string) {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	m, err := Read(root)
	if err != nil {
		t.Fatal(err)
	}
	return m, root
}

func plain(t *testing.T) (*Module, string) {
	t.Helper()
	return module(t, map[string]string{
		"go.mod":            "module m\n",
		"a/a.go":            code,
		"b/b.go":            "package b\n\nfunc twin() { twin() }\n",
		"a/a_test.go":       "package a\n\nfunc TestAdd(t *testing.T) { twin() }\n\nfunc TestBoth() {}\n",
		"b/b_test.go":       "package b\n\nfunc TestBoth() {}\n",
		"inner/go.mod":      "module inner\n",
		"inner/i.go":        "package i\n\nfunc innerOnly() {}\n",
		"a/testdata/bad.go": "no Go at all",
	})
}

func TestEditChangesItsPlaceOnly(t *testing.T) {
	for name, c := range map[string]struct {
		edit     Edit
		old, new string
	}{
		"a condition is replaced":       {Edit{If: "n < 0", Put: "false"}, "n < 0", "false"},
		"a condition is negated":        {Edit{If: "n < 0", Negate: true}, "n < 0", "!(n < 0)"},
		"a statement is removed":        {Edit{Stmt: "x.n += n", Remove: true}, "x.n += n", ""},
		"a statement with any value":    {Edit{Stmt: "x.n += _", Put: "x.n = 7"}, "x.n += n", "x.n = 7"},
		"a call that is one is removed": {Edit{Call: "log", Nth: 2, Remove: true}, `log("sum", x.n)`, ""},
		"an argument is replaced":       {Edit{Call: "log", Nth: 1, Arg: 2, Put: "0"}, "\t\tn)", "\t\t0)"},
		"line breaks do not matter":     {Edit{Stmt: `log("added", n)`, Remove: true}, "log(\"added\",\n\t\tn)", ""},
		"a case is replaced":            {Edit{Case: "n == 2", Put: "n == 3"}, "n == 2", "n == 3"},
		"an expression is replaced":     {Edit{Expr: "n == 2", Put: "n == 3"}, "n == 2", "n == 3"},
		"something goes before":         {Edit{If: "n < 0", Before: "n++"}, "if n < 0", "n++\nif n < 0"},
		"something goes before a call":  {Edit{Call: "log", Nth: 2, Before: "n++"}, `log("sum"`, "n++\nlog(\"sum\""},
	} {
		t.Run(name, func(t *testing.T) {
			m, root := plain(t)
			c.edit.In = "t.add"
			files, err := m.Apply(c.edit)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(root, "a/a.go")
			if want := strings.Replace(code, c.old, c.new, 1); len(files) != 1 || string(files[path]) != want {
				t.Errorf("the files are %s\nwant\n%s", files, want)
			}
			if now, err := os.ReadFile(path); err != nil || string(now) != code {
				t.Errorf("the checkout has %q, %v", now, err)
			}
		})
	}
}

func TestEditThatMissesOrIsAmbiguousIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		edits []Edit
		why   string
	}{
		"no such function":         {[]Edit{{In: "t.subtract", If: "_", Put: "true"}}, "no function"},
		"two functions":            {[]Edit{{In: "twin", Call: "twin", Remove: true}}, "2 functions"},
		"a test's function":        {[]Edit{{In: "TestAdd", Call: "twin", Remove: true}}, "no function"},
		"a module inside":          {[]Edit{{In: "innerOnly", Call: "twin", Remove: true}}, "no function"},
		"no such place":            {[]Edit{{In: "t.add", If: "n > 0", Put: "true"}}, "no if n > 0"},
		"an if that is no if":      {[]Edit{{In: "t.add", If: "n == 1", Put: "true"}}, "no if n == 1"},
		"two places":               {[]Edit{{In: "t.add", Call: "log", Remove: true}}, "2 times"},
		"a third of two":           {[]Edit{{In: "t.add", Call: "log", Nth: 3, Remove: true}}, "no place 3"},
		"no such argument":         {[]Edit{{In: "t.add", Call: "log", Arg: 3, Put: "0"}}, "no call of log"},
		"nothing changes":          {[]Edit{{In: "t.add", If: "n < 0", Put: "n < 0"}}, "would not be changed"},
		"one within another":       {[]Edit{{In: "t.add", If: "n < 0", Put: "false"}, {In: "t.add", If: "n < 0", Negate: true}}, "within another"},
		"no change":                {[]Edit{{In: "t.add", If: "n < 0"}}, "what becomes of it"},
		"two changes":              {[]Edit{{In: "t.add", If: "n < 0", Negate: true, Remove: true}}, "what becomes of it"},
		"no pattern":               {[]Edit{{In: "t.add", Remove: true}}, "what is changed"},
		"two patterns":             {[]Edit{{In: "t.add", If: "n < 0", Call: "log", Remove: true}}, "what is changed"},
		"Arg without Call":         {[]Edit{{In: "t.add", If: "n < 0", Arg: 1, Put: "0"}}, "goes with a Call"},
		"a pattern that is no Go":  {[]Edit{{In: "t.add", If: "n <", Put: "true"}}, "expected"},
		"a result that is no Go":   {[]Edit{{In: "t.add", If: "n < 0", Put: "n <"}}, "with its edits"},
		"two statements":           {[]Edit{{In: "t.add", Stmt: "a(); b()", Remove: true}}, "not one"},
		"an expression is removed": {[]Edit{{In: "t.add", If: "n < 0", Remove: true}}, "not a statement"},
	} {
		t.Run(name, func(t *testing.T) {
			m, _ := plain(t)
			files, err := m.Apply(c.edits...)
			if err == nil || !strings.Contains(err.Error(), c.why) {
				t.Errorf("%v, %v; want an error that says %q", files, err, c.why)
			}
		})
	}
}

func TestPackageTellsTwinsApart(t *testing.T) {
	m, root := plain(t)
	files, err := m.Apply(Edit{In: "b.twin", Call: "twin", Remove: true})
	if want := "package b\n\nfunc twin() {  }\n"; err != nil || string(files[filepath.Join(root, "b/b.go")]) != want {
		t.Errorf("%s, %v", files, err)
	}
}

func TestEditsOfOneFileDoNotDependOnEachOther(t *testing.T) {
	m, root := plain(t)
	files, err := m.Apply(Edit{In: "t.add", Case: "n == 2", Put: "n == 1"}, Edit{In: "t.add", Case: "n == 1", Put: "n == 2"})
	if err != nil || !strings.Contains(string(files[filepath.Join(root, "a/a.go")]), "case n == 2, n == 1:") {
		t.Errorf("%s, %v", files, err)
	}
}

func TestTestsAreFoundByName(t *testing.T) {
	m, root := plain(t)
	a, b := filepath.Join(root, "a"), filepath.Join(root, "b")
	for name, want := range map[string][]string{
		"TestAdd": {a}, "a.TestAdd": {a}, "b.TestAdd": nil, "TestBoth": {a, b}, "b.TestBoth": {b}, "twin": nil,
	} {
		if got := m.TestFolders(name); !slices.Equal(got, want) {
			t.Errorf("%s is in %v, want %v", name, got, want)
		}
	}
}

func TestOverlayNamesTheChangedFiles(t *testing.T) {
	m, root := plain(t)
	list, err := m.Overlay(t.TempDir(), Edit{In: "t.add", If: "n < 0", Put: "false"})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(list)
	var overlay struct{ Replace map[string]string }
	if err != nil || json.Unmarshal(text, &overlay) != nil || len(overlay.Replace) != 1 {
		t.Fatalf("the list is %s, %v", text, err)
	}
	changed, err := os.ReadFile(overlay.Replace[filepath.Join(root, "a/a.go")])
	if err != nil || !strings.Contains(string(changed), "if false {") {
		t.Errorf("%s, %v", changed, err)
	}
}

func TestCheckoutIsFoundFromWithin(t *testing.T) {
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	m, err := Read(root)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.function("Lock.TryLock"); err != nil {
		t.Error(err)
	}
}
