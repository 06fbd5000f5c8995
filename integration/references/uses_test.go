package main

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"testing"
)

// packageOf parses files, each by its name and its text.
func packageOf(t *testing.T, texts ...string) uses {
	t.Helper()
	set := token.NewFileSet()
	var files []*ast.File
	for i := 0; i < len(texts); i += 2 {
		f, err := parser.ParseFile(set, texts[i], "package p\n"+texts[i+1], 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	info := types.Info{Uses: map[*ast.Ident]types.Object{}}
	pkg, err := (&types.Config{Importer: importer.Default()}).Check("p", set, files, &info)
	if err != nil {
		t.Fatal(err)
	}
	return usesOf(pkg, set, &info)
}

func TestFilesThatUseOneAnotherInACircleRunBackUpOnce(t *testing.T) {
	u := packageOf(t,
		"c.go", "func c() { a() }",
		"a.go", "func a() { b(); b() }",
		"b.go", "type T struct{ field int }\nfunc b() { c() }",
		"d.go", "func d(v T) int { a(); local := v.field; return local }")
	if len(u) != 5 {
		t.Errorf("uses %v, want a of b, b of c, c of a, d of a and b", u)
	}
	order := u.order()
	if back := u.back(order); len(back) != 1 {
		t.Errorf("in the order %v these run back up: %v, want one", order, back)
	}
}

func TestPackageThatIsReadFromTopToBottomHasNothingThatRunsBackUp(t *testing.T) {
	u := packageOf(t,
		"a.go", "func a() int { return v }\nvar v = 1",
		"b.go", "func (t T) m() int { return a() }",
		"c.go", "type T struct{}\nfunc c() { T{}.m() }")
	want := []use{{"b.go", "a.go"}, {"b.go", "c.go"}, {"c.go", "b.go"}}
	for _, w := range want {
		if u[w] == nil {
			t.Errorf("%v is no use", w)
		}
	}
	straight := packageOf(t, "a.go", "const top = middle", "b.go", "const middle = low", "c.go", "const low = 1")
	if order := straight.order(); !slices.Equal(order, []string{"a.go", "b.go", "c.go"}) || len(straight.back(order)) > 0 {
		t.Errorf("the order is %v", order)
	}
}

// Moves of one file at a time don't find this order from that of the names.
func TestOrderWithNothingThatRunsBackUpIsFound(t *testing.T) {
	u := packageOf(t,
		"a.go", "func a() {}",
		"b.go", "func b() { a() }",
		"c.go", "func c() { a(); d() }",
		"d.go", "func d() { b() }")
	if order := u.order(); len(u.back(order)) > 0 {
		t.Errorf("in the order %v these run back up: %v", order, u.back(order))
	}
}
