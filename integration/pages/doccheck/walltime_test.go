package doccheck

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// wall follows the wall time through all tests and what only tests import, as the compiler resolves their names: into
// variables, fields, parameters, results and channels. What it knows is by the place of a declaration, because a package is
// compiled once with its tests and once for those that import it.
type wall struct {
	info    *types.Info
	decls   map[token.Pos]*ast.FuncDecl
	tables  map[token.Pos]ast.Expr // what the variables of packages begin with
	proves  func(token.Pos) bool   // what is the tests' own, so that a field of the library's types is never wall time
	bubbles map[string]bool        // functions that run an argument in a bubble, by path and name
	walls   map[result]bool        // variables and fields with times or durations of the wall clock, and results
	changed bool
}

// result is one of the results of the function that is declared there, or the variable or the field, whose i is -1.
type result struct {
	of token.Pos
	i  int
}

// wallSources are functions whose result is wall time: those of a clock, and what a server says of its own. What is left of a lease is not: it is compared with leases of minutes.
var wallSources = []string{"Now", "Since", "time.Unix", "time.UnixMilli", "time.UnixMicro"}

// follow finds all that has wall time.
func follow(files []*ast.File, info *types.Info, bubbles map[string]bool, proves func(token.Pos) bool) *wall {
	w := &wall{info: info, proves: proves, decls: map[token.Pos]*ast.FuncDecl{}, tables: map[token.Pos]ast.Expr{}, bubbles: bubbles, walls: map[result]bool{}}
	var vars []ast.Node
	for _, f := range files {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Body != nil {
					w.decls[d.Name.Pos()] = d
				}
			case *ast.GenDecl:
				vars = append(vars, d)
				for _, s := range d.Specs {
					if s, ok := s.(*ast.ValueSpec); ok && len(s.Names) == len(s.Values) {
						for i, name := range s.Names {
							w.tables[name.Pos()] = s.Values[i]
						}
					}
				}
			}
		}
	}
	for w.changed = true; w.changed; {
		w.changed = false
		for of, d := range w.decls {
			w.statements(of, d.Body)
		}
		for _, d := range vars {
			w.statements(token.NoPos, d)
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

func (w *wall) mark(of token.Pos, i int) {
	if what := (result{of, i}); of.IsValid() && w.proves(of) && !w.walls[what] {
		w.walls[what], w.changed = true, true
	}
}

// has tells whether a variable, a field, or a function's result has wall time.
func (w *wall) has(of types.Object, i int) bool { return of != nil && w.walls[result{of.Pos(), i}] }

func (w *wall) decl(of types.Object) *ast.FuncDecl {
	if of == nil || !of.Pos().IsValid() {
		return nil
	}
	return w.decls[of.Pos()]
}

// assign notes that something was given wall time.
func (w *wall) assign(to ast.Expr) {
	switch to := to.(type) {
	case *ast.Ident:
		if o := w.info.ObjectOf(to); o != nil {
			w.mark(o.Pos(), -1)
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
func (w *wall) statements(of token.Pos, body ast.Node) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			w.statements(token.NoPos, n.Body)
			return false
		case *ast.AssignStmt:
			for i, l := range n.Lhs {
				if w.oneOf(n.Rhs, i, len(n.Lhs)) {
					w.assign(l)
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
				if w.is(e) {
					w.mark(of, i)
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

// returnsWall tells whether a function's first result is wall time in one of its return statements.
func (w *wall) returnsWall(body ast.Node) (wall bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		if r, ok := n.(*ast.ReturnStmt); ok && len(r.Results) > 0 {
			wall = wall || w.is(r.Results[0])
		}
		_, inner := n.(*ast.FuncLit)
		return !inner && !wall
	})
	return wall
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
	return w.has(w.callee(call), i)
}

// passes notes the parameters that a call gives wall time.
func (w *wall) passes(call *ast.CallExpr) {
	f, ok := w.callee(call).(*types.Func)
	if !ok {
		return
	}
	params := f.Origin().Signature().Params()
	if s, method := call.Fun.(*ast.SelectorExpr); method && f.Origin().Signature().Recv() != nil && w.is(s.X) {
		w.mark(f.Origin().Signature().Recv().Pos(), -1)
	}
	for i, a := range call.Args {
		if i < params.Len() && w.is(a) {
			w.mark(params.At(i).Pos(), -1)
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
			w.mark(s.Field(i).Pos(), -1)
		}
	}
}

// is tells whether an expression is wall time, or counted from it.
func (w *wall) is(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return w.has(w.info.ObjectOf(e), -1)
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
	case *ast.FuncLit:
		return w.returnsWall(e.Body)
	case *ast.CompositeLit:
		_, list := e.Type.(*ast.ArrayType)
		return list && slices.ContainsFunc(e.Elts, w.is)
	case *ast.CallExpr:
		if calls(e, wallSources...) || w.gives(e, 0) {
			return true
		}
		if of, ok := w.callee(e).(*types.Var); ok {
			return w.has(of, -1) // a function that a variable, or a function's result, has
		}
		if w.decl(w.callee(e)) != nil || calls(e, "Sprint", "Sprintf", "Errorf", "Before", "After", "Equal") {
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

// reach walks a function and those that it names, and finds sleeps, and comparisons that fail if the machine is slow. It
// leaves out what runs in a bubble, where time is virtual, and what waits for a state. The rows of a table run where the
// loop over them is, so those of a test that makes a bubble do so in the bubble.
func (w *wall) reach(body ast.Node, bubbled bool, seen map[ast.Node]bool, compares, sleeps func(ast.Node)) {
	if seen[body] {
		return
	}
	seen[body] = true
	ast.PreorderStack(body, nil, func(n ast.Node, stack []ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return !bubbled || !row(stack)
		case *ast.CallExpr:
			if w.bubble(n) && slices.ContainsFunc(n.Args, literal) {
				return false
			}
			if calls(n, "time.Sleep") && !polls(n, stack) {
				sleeps(n)
			}
			if w.lateCall(n) && !waits(n, stack) {
				compares(n)
			}
		case *ast.BinaryExpr:
			if w.late(n) && !waits(n, stack) {
				compares(n)
			}
		case *ast.Ident:
			used := w.info.Uses[n]
			if used == nil || rootTest(n.Name) {
				break
			}
			if d := w.decl(used); d != nil {
				w.reach(d, bubbled || w.makesBubble(d), seen, compares, sleeps)
			} else if table := w.tables[used.Pos()]; table != nil && !bubbled {
				w.reach(table, false, seen, compares, sleeps)
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
	switch n.Op {
	case token.GTR, token.GEQ:
		return w.is(n.X) && !w.plain(n.Y)
	case token.LSS, token.LEQ:
		return w.is(n.Y) && !w.plain(n.X)
	}
	return false
}

// lateCall is late for two times of a record or of the clock.
func (w *wall) lateCall(n *ast.CallExpr) bool {
	s, method := n.Fun.(*ast.SelectorExpr)
	switch {
	case !method || len(n.Args) != 1:
	case s.Sel.Name == "After":
		return w.is(s.X) && !w.plain(n.Args[0])
	case s.Sel.Name == "Before":
		now, _ := n.Args[0].(*ast.CallExpr)
		return now != nil && calls(now, "Now")
	}
	return false
}

// plain tells whether an expression is wall time and nothing else: of two such times only the order is asked, not how
// long after the one the other may be.
func (w *wall) plain(e ast.Expr) bool {
	plain := w.is(e)
	ast.Inspect(e, func(n ast.Node) bool {
		if b, ok := n.(*ast.BinaryExpr); ok && (b.Op == token.ADD || b.Op == token.MUL) {
			plain = false
		}
		if call, ok := n.(*ast.CallExpr); ok && calls(call, "Add") {
			plain = false
		}
		return plain
	})
	return plain
}

// row tells whether what the stack leads to is a value of a table.
func row(stack []ast.Node) bool {
	switch stack[len(stack)-1].(type) {
	case *ast.KeyValueExpr, *ast.CompositeLit:
		return true
	}
	return false
}

// polls tells whether a sleep is between two looks of a loop that waits for a state.
func polls(n ast.Node, stack []ast.Node) bool {
	return slices.ContainsFunc(stack, func(s ast.Node) bool {
		loop, ok := s.(*ast.ForStmt)
		if !ok || loop.Cond == nil && loop.Post == nil {
			return false
		}
		return loop.Post == nil || loop.Post.Pos() <= n.Pos() && n.End() <= loop.Post.End()
	})
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
