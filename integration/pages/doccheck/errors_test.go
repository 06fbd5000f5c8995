package doccheck

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// everyCall are the errors of each call that asks a server.
var everyCall = []string{"ErrClosed", "ErrUnavailable", "ErrRefused"}

// asksNobody are methods with a context that ask no server themselves.
var asksNobody = []string{"Client.Shutdown"}

// errorsUnsaid lists methods of package rlock whose comment leaves it to another comment which errors they return.
func (c *checkout) errorsUnsaid() (wrong []string) {
	for name, f := range c.packages["rlock"].files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, d := range f.Decls {
			m, ok := d.(*ast.FuncDecl)
			if !ok || m.Recv == nil || !m.Name.IsExported() || !mayFail(m) {
				continue
			}
			of := typeName(m.Recv.List[0].Type) + "." + m.Name.Name
			if !ast.IsExported(of) || slices.Contains(asksNobody, of) {
				continue
			}
			for _, err := range everyCall {
				if !mentions(m.Doc.Text(), err) {
					wrong = append(wrong, fmt.Sprintf("%s: the comment of %s does not say when it is %s", c.at(m), of, err))
				}
			}
		}
	}
	return wrong
}

// mayFail tells a function that takes a context and returns an error.
func mayFail(m *ast.FuncDecl) bool {
	in, out := m.Type.Params.List, m.Type.Results
	if len(in) == 0 || out == nil {
		return false
	}
	first, ok := in[0].Type.(*ast.SelectorExpr)
	last, isName := out.List[len(out.List)-1].Type.(*ast.Ident)
	return ok && isName && first.Sel.Name == "Context" && last.Name == "error"
}

func TestMethodsSayWhichErrorsTheyReturn(t *testing.T) { none(t, thisCheckout(t).errorsUnsaid()) }
