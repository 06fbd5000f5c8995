package doccheck

import (
	"fmt"
	"go/ast"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// everyCall has the errors that each call to a server can return.
var everyCall = []string{"ErrClosed", "ErrUnavailable", "ErrRefused"}

// asksNobody has the methods with a context that send nothing to a server themselves.
var asksNobody = []string{"Client.Shutdown"}

// errorsUnsaid lists methods of package rlock of which neither the comment names each error of everyCall, nor one of a method that
// it refers to for its errors.
func (c *checkout) errorsUnsaid() (wrong []string) {
	comments := map[string]string{} // by method, such as Lock.Lock
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
			if ast.IsExported(of) && !slices.Contains(asksNobody, of) {
				comments[of] = strings.Join(strings.Fields(m.Doc.Text()), " ")
			}
		}
	}
	for _, of := range slices.Sorted(maps.Keys(comments)) {
		for _, err := range everyCall {
			if !says(comments, of, err, 4) {
				wrong = append(wrong, fmt.Sprintf("the comment of %s does not say when it is %s, or which method's does", of, err))
			}
		}
	}
	return wrong
}

// refers matches the method to which a comment refers for errors.
var refers = regexp.MustCompile(`(?:errors are(?: those of)?|error is|error, see|which are|the release's, see|as|like) \[?((?:[A-Z]\w+\.)?[A-Z]\w+)\]?(?:'s?)?`)

// says tells whether a method's comment names an error, or refers to one that does, in so many steps at most.
func says(comments map[string]string, of, err string, steps int) bool {
	if comments[of] == "" || steps == 0 {
		return false
	}
	if mentions(comments[of], err) {
		return true
	}
	own, _, _ := strings.Cut(of, ".")
	for _, to := range refers.FindAllStringSubmatch(comments[of], -1) {
		other := to[1]
		if !strings.Contains(other, ".") {
			other = own + "." + other
		}
		if strings.Contains(comments[of], "error") && says(comments, other, err, steps-1) {
			return true
		}
	}
	return false
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
