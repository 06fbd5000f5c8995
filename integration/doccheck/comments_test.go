package doccheck

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"unicode"
)

// importable tells packages that others build on from those that are a program, or the inside of one: in these, members
// of types and values of a group may be left to the comment of the type or group.
func importable(dir string, p *pkg) bool {
	return p.name != "main" && !strings.HasPrefix(dir, "integration/torture/")
}

// uncommented lists what has no doc comment and staticcheck does not miss: programs, packages of tests only, and exported
// identifiers. Of the other packages, and of the form of comments, staticcheck speaks.
func (c *checkout) uncommented() (wrong []string) {
	for _, check := range []string{"ST1000", "ST1020", "ST1021", "ST1022"} {
		if !strings.Contains(c.text("staticcheck.conf"), `"`+check+`"`) {
			wrong = append(wrong, "staticcheck.conf does not ask for "+check)
		}
	}
	for _, dir := range sorted(c.packages) {
		p := c.packages[dir]
		described := p.name != "main" && p.name != ""
		for _, name := range sorted(p.files) {
			f := p.files[name]
			test := strings.HasSuffix(name, "_test.go")
			described = described || f.Doc.Text() != "" && (!test || p.name == "")
			if test {
				continue
			}
			for _, d := range f.Decls {
				wrong = append(wrong, c.uncommentedIn(d, importable(dir, p))...)
			}
		}
		if !described {
			wrong = append(wrong, dir+": the package has no doc comment")
		}
	}
	return wrong
}

func (c *checkout) uncommentedIn(d ast.Decl, each bool) (wrong []string) {
	report := func(n ast.Node, kind, name string) {
		wrong = append(wrong, fmt.Sprintf("%s: %s %s has no doc comment", c.at(n), kind, name))
	}
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && d.Doc.Text() == "" {
			if d.Recv == nil {
				report(d, "func", d.Name.Name)
			} else if of := typeName(d.Recv.List[0].Type); ast.IsExported(of) {
				report(d, "method", of+"."+d.Name.Name)
			}
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.ValueSpec:
				for _, name := range s.Names {
					// One value of a group has its own words; the group's are about all of them.
					told := d.Doc.Text() != "" && (!d.Lparen.IsValid() || !each || mentions(d.Doc.Text(), name.Name))
					if name.IsExported() && !told && s.Doc.Text() == "" && s.Comment.Text() == "" {
						report(name, d.Tok.String(), name.Name)
					}
				}
			case *ast.TypeSpec:
				if !s.Name.IsExported() {
					continue
				}
				if s.Doc.Text() == "" && s.Comment.Text() == "" && (d.Lparen.IsValid() || d.Doc.Text() == "") {
					report(s, "type", s.Name.Name)
				}
				// A comment may be about more than the member that it stands at.
				words := d.Doc.Text() + s.Doc.Text()
				for _, m := range members(s) {
					words += m.Doc.Text()
				}
				for _, m := range members(s) {
					for _, name := range m.Names {
						if each && name.IsExported() && m.Doc.Text()+m.Comment.Text() == "" && !mentions(words, name.Name) {
							report(name, "member", s.Name.Name+"."+name.Name)
						}
					}
				}
			}
		}
	}
	return wrong
}

// mentions tells whether a comment has a name in it, as a word.
func mentions(comment, name string) bool {
	return slices.Contains(strings.FieldsFunc(comment, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }), name)
}

// members are a struct's fields or an interface's methods.
func members(s *ast.TypeSpec) []*ast.Field {
	switch t := s.Type.(type) {
	case *ast.StructType:
		return t.Fields.List
	case *ast.InterfaceType:
		return t.Methods.List
	}
	return nil
}

// typeName is the name of a receiver's type.
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
// as Type.Name. Tests are apart.
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
