package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"

	"github.com/rlock-go/redisson/integration/internal/typecheck"
)

// library is the module that is counted.
const library = "github.com/rlock-go/redisson"

func nameOf(p *typecheck.Package) string { return strings.TrimPrefix(p.ImportPath, library+"/") }

// usesIn are those of a package's files.
func usesIn(p *typecheck.Package) (uses, error) {
	info := types.Info{Uses: map[*ast.Ident]types.Object{}}
	pkg, set, err := p.Check(nil, &info)
	if err != nil {
		return nil, err
	}
	return usesOf(pkg, set, &info), nil
}

func usesOf(pkg *types.Package, set *token.FileSet, info *types.Info) uses {
	u := uses{}
	for id, o := range info.Uses {
		if o.Pkg() != pkg {
			continue
		}
		if _, method := o.(*types.Func); !method && o.Parent() != pkg.Scope() {
			continue
		}
		u.add(filepath.Base(set.Position(id.Pos()).Filename), filepath.Base(set.Position(o.Pos()).Filename), o.Name())
	}
	return u
}
