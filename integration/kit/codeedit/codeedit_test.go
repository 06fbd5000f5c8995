package codeedit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A list of edits must not fall behind the code: an edit that matches no place, or more than one, is refused.
func TestEditThatMissesOrIsAmbiguousIsRefused(t *testing.T) {
	root := t.TempDir()
	const code = "package a\n\nfunc add(n int) int {\n\tif n < 0 {\n\t\tlog(n)\n\t}\n\tlog(n)\n\treturn n\n}\n"
	for name, text := range map[string]string{"go.mod": "module m\n", "a.go": code, "twin.go": "package a\n\nfunc (t) twin() {}\nfunc (*t) twin() {}\n"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	m, err := Read(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		edit Edit
		why  string
	}{
		"no such function":   {Edit{In: "subtract", If: "_", Put: "true"}, "no function"},
		"two functions":      {Edit{In: "t.twin", If: "_", Put: "true"}, "2 functions"},
		"no such place":      {Edit{In: "add", If: "n > 0", Put: "true"}, "no if n > 0"},
		"two places":         {Edit{In: "add", Call: "log", Remove: true}, "2 times"},
		"a third of two":     {Edit{In: "add", Call: "log", Nth: 3, Remove: true}, "no place 3"},
		"nothing changes":    {Edit{In: "add", If: "n < 0", Put: "n < 0"}, "would not be changed"},
		"two changes of one": {Edit{In: "add", If: "n < 0", Negate: true, Remove: true}, "what becomes of it"},
		"two patterns":       {Edit{In: "add", If: "n < 0", Call: "log", Remove: true}, "what is changed"},
		"a result of no Go":  {Edit{In: "add", If: "n < 0", Put: "n <"}, "with its edits"},
	} {
		if files, err := m.Apply(c.edit); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %v, %v; want an error that says %q", name, files, err, c.why)
		}
	}
	files, err := m.Apply(Edit{In: "add", If: "n < _", Put: "false"}, Edit{In: "add", Call: "log", Nth: 2, Remove: true})
	if want := "if false {\n\t\tlog(n)\n\t}\n\t\n"; err != nil || !strings.Contains(string(files[filepath.Join(root, "a.go")]), want) {
		t.Errorf("%s, %v", files, err)
	}
}
