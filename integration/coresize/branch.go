package main

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"reflect"

	"github.com/rlock-go/redisson/internal/kind"
)

// verdict is what a condition comes to.
type verdict int

const (
	unknown verdict = iota
	never
	always
)

func verdictOf(yes bool) verdict {
	if yes {
		return always
	}
	return never
}

func not(v verdict) verdict { return [...]verdict{unknown, always, never}[v] }

func either(a, b verdict) verdict {
	switch {
	case a == always || b == always:
		return always
	case a == b:
		return a
	}
	return unknown
}

// skipped are the parts of a statement that a kind with these traits never reaches.
func (m *module) skipped(n ast.Node, t *kind.Traits) (parts []ast.Node) {
	switch n := n.(type) {
	case *ast.IfStmt:
		switch v := m.verdict(n.Cond, t); {
		case v == never && n.Else == nil:
			return []ast.Node{n}
		case v == never:
			return []ast.Node{n.Body}
		case v == always && n.Else != nil:
			return []ast.Node{n.Else}
		}
	case *ast.SwitchStmt:
		for over, i := n.Tag != nil, 0; i < len(n.Body.List) && n.Tag == nil; i++ {
			c, v := n.Body.List[i].(*ast.CaseClause), never
			for _, e := range c.List {
				v = either(v, m.verdict(e, t))
			}
			if over || v == never && c.List != nil {
				parts = append(parts, c)
			}
			over = over || v == always
		}
	case *ast.BlockStmt:
		return m.behind(n.List, t)
	case *ast.CaseClause:
		return m.behind(n.Body, t)
	}
	return parts
}

// behind are the statements that follow one that always leaves.
func (m *module) behind(all []ast.Stmt, t *kind.Traits) (parts []ast.Node) {
	gone := false
	for _, s := range all {
		if gone {
			parts = append(parts, s)
		}
		if s, ok := s.(*ast.IfStmt); ok && m.verdict(s.Cond, t) == always {
			switch s.Body.List[len(s.Body.List)-1].(type) {
			case *ast.ReturnStmt, *ast.BranchStmt:
				gone = true
			}
		}
	}
	return parts
}

// verdict is what a condition comes to with these traits.
func (m *module) verdict(e ast.Expr, t *kind.Traits) verdict {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return m.verdict(e.X, t)
	case *ast.UnaryExpr:
		return not(m.verdict(e.X, t))
	case *ast.BinaryExpr:
		x, y := m.value(e.X, t), m.value(e.Y, t)
		switch {
		case e.Op == token.LOR:
			return either(m.verdict(e.X, t), m.verdict(e.Y, t))
		case e.Op == token.LAND:
			return not(either(not(m.verdict(e.X, t)), not(m.verdict(e.Y, t))))
		case x != nil && y != nil:
			return verdictOf(constant.Compare(x, e.Op, y))
		}
	case *ast.CallExpr: // of a method that has a condition and no more
		if s, ok := e.Fun.(*ast.SelectorExpr); ok && len(e.Args) == 0 {
			if o, ok := m.info.Uses[s.Sel].(*types.Func); ok && m.functions[o.FullName()] != nil {
				if body := m.functions[o.FullName()].Node.(*ast.FuncDecl).Body.List; len(body) == 1 {
					if r, ok := body[0].(*ast.ReturnStmt); ok && len(r.Results) == 1 {
						return m.verdict(r.Results[0], t)
					}
				}
			}
		}
	}
	if v := m.value(e, t); v != nil && v.Kind() == constant.Bool {
		return verdictOf(constant.BoolVal(v))
	}
	return unknown
}

// value is that of a constant or a trait; nil: it is neither.
func (m *module) value(e ast.Expr, t *kind.Traits) constant.Value {
	s, ok := e.(*ast.SelectorExpr)
	if !ok || m.info.Types[s.X].Type == nil || m.info.Types[s.X].Type.String() != "*"+library+"internal/kind.Traits" {
		return m.info.Types[e].Value
	}
	m.asked[s.Sel.Name] = true
	switch v := reflect.ValueOf(t).Elem().FieldByName(s.Sel.Name); v.Kind() {
	case reflect.Bool:
		return constant.MakeBool(v.Bool())
	case reflect.Int:
		return constant.MakeInt64(v.Int())
	}
	return nil
}

// unread is an error if there are traits, but for names, that no condition reads.
func (m *module) unread() error {
	for f := range reflect.TypeFor[kind.Traits]().Fields() {
		if f.Type.Kind() != reflect.String && f.Type != reflect.TypeFor[kind.Label]() && !m.asked[f.Name] {
			return fmt.Errorf("the core has no condition by Traits.%s that this program understands", f.Name)
		}
	}
	return nil
}
