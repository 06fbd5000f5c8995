package doccheck

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"unicode"
)

// mentions tells whether a comment contains a name as a word.
func mentions(comment, name string) bool {
	return slices.Contains(strings.FieldsFunc(comment, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }), name)
}

// members returns a struct's fields or an interface's methods.
func members(s *ast.TypeSpec) []*ast.Field {
	switch t := s.Type.(type) {
	case *ast.StructType:
		return t.Fields.List
	case *ast.InterfaceType:
		return t.Methods.List
	}
	return nil
}

// typeName returns the name of a receiver's type.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.IndexListExpr:
		return typeName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// declared lists what a package declares: functions, types, constants and variables by their names, methods and fields
// as Type.Name. It lists either the tests or the rest.
func (p *pkg) declared(tests bool) map[string]bool {
	names := map[string]bool{}
	for file, f := range p.files {
		if strings.HasSuffix(file, "_test.go") != tests {
			continue
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					names[d.Name.Name] = true
				} else {
					names[typeName(d.Recv.List[0].Type)+"."+d.Name.Name] = true
				}
			case *ast.GenDecl:
				if d.Tok == token.IMPORT {
					continue
				}
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.ValueSpec:
						for _, n := range s.Names {
							names[n.Name] = true
						}
					case *ast.TypeSpec:
						names[s.Name.Name] = true
						for _, m := range members(s) {
							for _, n := range m.Names {
								names[s.Name.Name+"."+n.Name] = true
							}
						}
					}
				}
			}
		}
	}
	return names
}
