package doccheck

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// everyCall has the errors that each call to a server can return.
var everyCall = []string{"ErrClosed", "ErrUnavailable", "ErrRefused"}

// asksNobody has the methods with a context that send nothing to a server themselves.
var asksNobody = []string{"Client.Shutdown"}

// errorsUnsaid lists methods of package rlock whose own comment does not name each error of everyCall.
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

// mayFail tells whether a function takes a context and returns an error.
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
