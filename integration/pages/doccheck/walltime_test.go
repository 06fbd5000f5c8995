package doccheck

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// wall follows the wall time through the tests of one package, as the compiler resolves its names: into variables, fields,
// parameters, results and channels.
type wall struct {
	info    *types.Info
	decls   map[types.Object]*ast.FuncDecl
	bubbles map[string]bool // functions that run an argument in a bubble, by path and name
	walls   map[any]bool    // variables and fields with times or durations of the wall clock, and results
	changed bool
}

// result is one of a function's results.
type result struct {
	of types.Object
	i  int
}

// wallSources are functions whose result is wall time. What is left of a lease is not: it is compared with leases of minutes.
var wallSources = []string{"time.Now", "time.Since"}

// follow finds all that has wall time.
func follow(files []*ast.File, info *types.Info, bubbles map[string]bool) *wall {
	w := &wall{info: info, decls: map[types.Object]*ast.FuncDecl{}, bubbles: bubbles, walls: map[any]bool{}}
	for _, f := range files {
		for _, d := range f.Decls {
			d, ok := d.(*ast.FuncDecl)
			if !ok || d.Body == nil || info.Defs[d.Name] == nil {
				continue
			}
			w.decls[info.Defs[d.Name]] = d
		}
	}
	for w.changed = true; w.changed; {
		w.changed = false
		for of, d := range w.decls {
			w.statements(of, d.Body)
		}
	}
	return w
}

// calls tells whether a call is of one of these functions, written pkg.Name, or methods, written by their names.
func calls(call *ast.CallExpr, names ...string) bool {
	s, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, _ := s.X.(*ast.Ident)
	return slices.Contains(names, s.Sel.Name) || x != nil && slices.Contains(names, x.Name+"."+s.Sel.Name)
}

// callee is the function of the project that a call names.
func (w *wall) callee(call *ast.CallExpr) types.Object {
	switch f := ast.Unparen(call.Fun).(type) {
	case *ast.Ident:
		return w.info.Uses[f]
	case *ast.SelectorExpr:
		return w.info.Uses[f.Sel]
	case *ast.IndexExpr:
		if x, ok := f.X.(*ast.Ident); ok {
			return w.info.Uses[x]
		}
	}
	return nil
}

func (w *wall) mark(what any) {
	if !w.walls[what] {
		w.walls[what], w.changed = true, true
	}
}

// assign notes that something was given wall time.
func (w *wall) assign(to ast.Expr) {
	switch to := to.(type) {
	case *ast.Ident:
		if o := w.info.ObjectOf(to); o != nil {
			w.mark(o)
		}
	case *ast.SelectorExpr:
		w.assign(to.Sel)
	case *ast.IndexExpr:
		w.assign(to.X)
	case *ast.StarExpr:
		w.assign(to.X)
	}
}

// statements follows wall time through a function's body.
func (w *wall) statements(of types.Object, body ast.Node) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			w.statements(nil, n.Body)
			return false
		case *ast.AssignStmt:
			for i, l := range n.Lhs {
				if w.oneOf(n.Rhs, i, len(n.Lhs)) {
					w.assign(l)
				}
			}
			// A function in a variable: what it returns is wall time if its first return statement's is.
			for i, r := range n.Rhs {
				if f, ok := r.(*ast.FuncLit); ok && i < len(n.Lhs) {
					if name, ok := n.Lhs[i].(*ast.Ident); ok {
						w.returns(w.info.ObjectOf(name), f.Body)
					}
				}
			}
		case *ast.ValueSpec:
			for i, l := range n.Names {
				if len(n.Values) > 0 && w.oneOf(n.Values, i, len(n.Names)) {
					w.assign(l)
				}
			}
		case *ast.SendStmt:
			if w.is(n.Value) {
				w.assign(n.Chan)
			}
		case *ast.RangeStmt:
			if w.is(n.X) {
				if n.Value != nil {
					w.assign(n.Value)
				} else if n.Key != nil {
					w.assign(n.Key) // a channel
				}
			}
		case *ast.ReturnStmt:
			for i, e := range n.Results {
				if of != nil && w.is(e) {
					w.mark(result{of, i})
				}
			}
		case *ast.CallExpr:
			w.passes(n)
		case *ast.CompositeLit:
			w.fields(n)
		}
		return true
	})
}

func (w *wall) returns(of types.Object, body ast.Node) {
	if of == nil {
		return
	}
	ast.Inspect(body, func(n ast.Node) bool {
		if r, ok := n.(*ast.ReturnStmt); ok {
			for i, e := range r.Results {
				if w.is(e) {
					w.mark(result{of, i})
				}
			}
		}
		_, inner := n.(*ast.FuncLit)
		return !inner
	})
}

// oneOf tells whether the ith of n values has wall time.
func (w *wall) oneOf(values []ast.Expr, i, n int) bool {
	if len(values) == n {
		return w.is(values[i])
	}
	call, ok := values[0].(*ast.CallExpr)
	return ok && w.gives(call, i)
}

// gives tells whether a result of a call is wall time.
func (w *wall) gives(call *ast.CallExpr, i int) bool {
	f := w.callee(call)
	return f != nil && w.walls[result{f, i}]
}

// passes notes the parameters that a call gives wall time.
func (w *wall) passes(call *ast.CallExpr) {
	f, ok := w.callee(call).(*types.Func)
	if !ok {
		return
	}
	params := f.Origin().Signature().Params()
	for i, a := range call.Args {
		if i < params.Len() && w.is(a) {
			w.mark(params.At(i))
		}
	}
}

// fields notes the fields that a composite literal gives wall time.
func (w *wall) fields(lit *ast.CompositeLit) {
	t, _ := w.info.TypeOf(lit).(interface{ Underlying() types.Type })
	if t == nil {
		return
	}
	s, ok := t.Underlying().(*types.Struct)
	for i, e := range lit.Elts {
		if kv, keyed := e.(*ast.KeyValueExpr); keyed {
			if key, named := kv.Key.(*ast.Ident); named && w.is(kv.Value) {
				w.assign(key)
			}
		} else if ok && i < s.NumFields() && w.is(e) {
			w.mark(s.Field(i))
		}
	}
}

// is tells whether an expression is wall time, or counted from it.
func (w *wall) is(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		o := w.info.ObjectOf(e)
		return o != nil && w.walls[o]
	case *ast.SelectorExpr:
		return w.is(e.Sel)
	case *ast.ParenExpr:
		return w.is(e.X)
	case *ast.StarExpr:
		return w.is(e.X)
	case *ast.UnaryExpr:
		return w.is(e.X)
	case *ast.IndexExpr:
		return w.is(e.X)
	case *ast.SliceExpr:
		return w.is(e.X)
	case *ast.BinaryExpr:
		return !comparison(e.Op) && (w.is(e.X) || w.is(e.Y))
	case *ast.CompositeLit:
		_, list := e.Type.(*ast.ArrayType)
		return list && slices.ContainsFunc(e.Elts, w.is)
	case *ast.CallExpr:
		if calls(e, wallSources...) || w.gives(e, 0) {
			return true
		}
		if w.decls[w.callee(e)] != nil || calls(e, "Sprint", "Sprintf", "Errorf", "Before", "After", "Equal") {
			return false
		}
		switch o := w.callee(e).(type) {
		case *types.Func:
			return false // a function of the project whose results are none
		case *types.Builtin:
			if !slices.Contains([]string{"min", "max", "append"}, o.Name()) {
				return false
			}
		}
		s, method := e.Fun.(*ast.SelectorExpr) // a conversion, or a function of another project
		return slices.ContainsFunc(e.Args, w.is) || method && w.is(s.X)
	}
	return false
}

func comparison(op token.Token) bool {
	switch op {
	case token.LSS, token.GTR, token.LEQ, token.GEQ, token.EQL, token.NEQ, token.LAND, token.LOR:
		return true
	}
	return false
}

// reach walks a function and those of its package that it names, and finds sleeps, and comparisons that fail if the
// machine is slow. It leaves out what runs in a bubble, where time is virtual, and what waits for a state.
func (w *wall) reach(d *ast.FuncDecl, seen map[ast.Node]bool, compares, sleeps func(ast.Node)) {
	if d == nil || seen[d] {
		return
	}
	seen[d] = true
	ast.PreorderStack(d.Body, nil, func(n ast.Node, stack []ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if w.bubble(n) && slices.ContainsFunc(n.Args, literal) {
				return false
			}
			if calls(n, "time.Sleep") {
				sleeps(n)
			}
			s, method := n.Fun.(*ast.SelectorExpr)
			late := method && len(n.Args) == 1 && calls(n, "After") && w.is(s.X)
			if late && !waits(n, stack) {
				compares(n)
			}
		case *ast.BinaryExpr:
			if w.late(n) && !waits(n, stack) {
				compares(n)
			}
		case *ast.Ident:
			if used := w.info.Uses[n]; used != nil && !rootTest(n.Name) {
				w.reach(w.decls[used], seen, compares, sleeps)
			}
		}
		return true
	})
}

// bubble tells whether a call runs its arguments in a bubble.
func (w *wall) bubble(call *ast.CallExpr) bool {
	f := w.callee(call)
	return calls(call, "synctest.Test") || f != nil && f.Pkg() != nil && w.bubbles[f.Pkg().Path()+"."+f.Name()]
}

func literal(e ast.Expr) bool { _, is := e.(*ast.FuncLit); return is }

// late tells whether a comparison asks if something took too long. That it took too short a time is no matter of the
// machine.
func (w *wall) late(n *ast.BinaryExpr) bool {
	left, right := w.is(n.X), w.is(n.Y)
	switch n.Op {
	case token.GTR, token.GEQ:
		return left && !right
	case token.LSS, token.LEQ:
		return right && !left
	}
	return false
}

// waits tells whether a comparison belongs to a wait for a state: it ends a loop, or it is the state.
func waits(n ast.Node, stack []ast.Node) bool {
	for i := len(stack) - 1; i >= 0; i-- {
		switch s := stack[i].(type) {
		case *ast.ForStmt:
			now := false
			ast.Inspect(n, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				now = now || ok && calls(call, "time.Now", "time.Since")
				return !now
			})
			return now || s.Cond != nil && s.Cond.Pos() <= n.Pos() && n.End() <= s.Cond.End()
		case *ast.FuncLit:
			call, ok := stack[i-1].(*ast.CallExpr)
			if !ok {
				return false
			}
			name := ""
			switch f := call.Fun.(type) {
			case *ast.Ident:
				name = f.Name
			case *ast.SelectorExpr:
				name = f.Sel.Name
			}
			return slices.Contains([]string{"becomes", "Becomes", "BecomesWithin", "Settles", "Within"}, name)
		}
	}
	return false
}

func rootTest(name string) bool {
	return slices.ContainsFunc([]string{"Test", "Fuzz", "Example"}, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}
