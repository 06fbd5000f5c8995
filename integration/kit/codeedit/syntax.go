package codeedit

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"slices"
	"strings"
)

// place is a piece of syntax that fits an edit.
type place struct {
	node ast.Node
	stmt ast.Stmt // innermost enclosing statement of a list, or nil
}

// alone reports whether the place is a statement of a list, or a call that is one.
func (p place) alone() bool {
	if call, ok := p.stmt.(*ast.ExprStmt); ok && call.X == p.node {
		return true
	}
	return p.stmt != nil && p.stmt == p.node
}

// find returns every matching place in a function, in order, and describes the pattern.
func find(in *ast.FuncDecl, e Edit) (what string, places []place, err error) {
	if !one(e.Expr != "", e.Stmt != "", e.If != "", e.Case != "", e.Call != "") {
		return "", nil, errors.New("one of Expr, Stmt, If, Case and Call must say what is changed")
	}
	if e.Arg != 0 && e.Call == "" {
		return "", nil, errors.New("an Arg goes with a Call")
	}
	what, pick, err := e.pick()
	if err != nil {
		return "", nil, err
	}
	var path []ast.Node
	ast.Inspect(in, func(n ast.Node) bool {
		if n == nil {
			path = path[:len(path)-1]
			return true
		}
		path = append(path, n)
		for _, found := range pick(n) {
			places = append(places, place{found, innermost(path)})
		}
		return true
	})
	return what, places, nil
}

// pick returns a function that picks the matching nodes at a node, and describes the pattern.
func (e Edit) pick() (what string, pick func(ast.Node) []ast.Node, err error) {
	switch {
	case e.Call != "":
		return "call of " + e.Call, e.pickCall, nil
	case e.Stmt != "":
		pattern, err := parseStmt(e.Stmt)
		return "statement " + e.Stmt, func(n ast.Node) []ast.Node { return fitting(pattern, n) }, err
	}
	pattern, err := parser.ParseExpr(e.Expr + e.If + e.Case)
	switch {
	case e.If != "":
		return "if " + e.If, func(n ast.Node) []ast.Node {
			if s, ok := n.(*ast.IfStmt); ok {
				return fitting(pattern, s.Cond)
			}
			return nil
		}, err
	case e.Case != "":
		return "case " + e.Case, func(n ast.Node) (found []ast.Node) {
			if s, ok := n.(*ast.CaseClause); ok {
				for _, x := range s.List {
					found = append(found, fitting(pattern, x)...)
				}
			}
			return found
		}, err
	}
	return "expression " + e.Expr, func(n ast.Node) []ast.Node { return fitting(pattern, n) }, err
}

func (e Edit) pickCall(n ast.Node) []ast.Node {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return nil
	}
	name, plain := dotted(call.Fun)
	if !plain || name != e.Call && !strings.HasSuffix(name, "."+e.Call) {
		return nil
	}
	switch {
	case e.Arg == 0:
		return []ast.Node{call}
	case e.Arg > 0 && e.Arg <= len(call.Args):
		return []ast.Node{call.Args[e.Arg-1]}
	}
	return nil
}

// dotted writes out x.y.z; it reports false for any other form of expression.
func dotted(x ast.Expr) (string, bool) {
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name, true
	case *ast.SelectorExpr:
		of, plain := dotted(x.X)
		return of + "." + x.Sel.Name, plain
	case *ast.CallExpr: // x().y is x.y here
		return dotted(x.Fun)
	}
	return "", false
}

// parseStmt parses exactly one statement.
func parseStmt(text string) (ast.Stmt, error) {
	file, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc f() {\n"+text+"\n}", parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	list := file.Decls[0].(*ast.FuncDecl).Body.List
	if len(list) != 1 {
		return nil, fmt.Errorf("%q is %d statements, not one", text, len(list))
	}
	return list[0], nil
}

// innermost returns the last statement on a path that is an element of a statement list.
func innermost(path []ast.Node) ast.Stmt {
	for i := len(path) - 1; i > 0; i-- {
		s, ok := path[i].(ast.Stmt)
		if !ok {
			continue
		}
		var list []ast.Stmt
		switch up := path[i-1].(type) {
		case *ast.BlockStmt:
			list = up.List
		case *ast.CaseClause:
			list = up.Body
		case *ast.CommClause:
			list = up.Body
		}
		// A clause is in a list too, but no statement may stand before it.
		if _, clause := s.(*ast.CaseClause); !clause && slices.Contains(list, s) {
			return s
		}
	}
	return nil
}

func fitting(pattern, n ast.Node) []ast.Node {
	if fits(reflect.ValueOf(pattern), reflect.ValueOf(n)) {
		return []ast.Node{n}
	}
	return nil
}

// fits reports whether two trees are equal except for positions and comments. In the pattern, _ is any expression.
func fits(pattern, n reflect.Value) bool {
	if pattern.Kind() == reflect.Interface {
		pattern, n = pattern.Elem(), n.Elem()
	}
	if !pattern.IsValid() || !n.IsValid() {
		return pattern.IsValid() == n.IsValid()
	}
	if id, ok := pattern.Interface().(*ast.Ident); ok && id != nil && id.Name == "_" {
		_, expr := n.Interface().(ast.Expr)
		return expr
	}
	if pattern.Type() != n.Type() {
		return false
	}
	switch pattern.Interface().(type) {
	case token.Pos, *ast.CommentGroup:
		return true
	}
	switch pattern.Kind() {
	case reflect.Pointer:
		return pattern.IsNil() == n.IsNil() && (pattern.IsNil() || fits(pattern.Elem(), n.Elem()))
	case reflect.Struct:
		for i := range pattern.NumField() {
			// What an identifier refers to is not syntax.
			if pattern.Type().Field(i).Name != "Obj" && !fits(pattern.Field(i), n.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Slice:
		if pattern.Len() != n.Len() {
			return false
		}
		for i := range pattern.Len() {
			if !fits(pattern.Index(i), n.Index(i)) {
				return false
			}
		}
		return true
	default:
		return pattern.Equal(n)
	}
}
