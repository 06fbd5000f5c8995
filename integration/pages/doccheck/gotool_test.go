package doccheck

import (
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The go command's flags, those with a value and those without.
var (
	goValued = strings.Fields("C bench benchtime blockprofile count covermode coverpkg coverprofile cpu cpuprofile exec " +
		"fuzz fuzztime gcflags ldflags list memprofile mod modfile o p parallel pgo run skip tags timeout trace vet")
	goPlain = strings.Fields("a all asan benchmem c cover failfast json m msan n race short src trimpath u v work x")
)

// golang checks a use of the go command.
func (r *reader) golang(args []string) {
	dir := r.dir
	defer func() { r.dir = dir }()
	if len(args) == 0 {
		return
	}
	verb, args := args[0], args[1:]
	switch verb {
	case "run", "test", "build", "vet", "list", "doc":
	case "mod", "get", "env", "version", "tool", "work", "install", "clean", "generate", "fmt":
		return
	default:
		r.complain("no go %s", verb)
		return
	}
	var packages []*pkg
	var rest []string               // the program's own arguments
	patterns := map[string]string{} // -run, -bench, -fuzz
	named := false
	for i := 0; i < len(args); i++ {
		flag, value, hasValue := flagOf(args[i])
		switch {
		case flag == "" && verb == "run" && !named:
			named, packages = true, r.find(args[i])
			rest = args[i+1:]
			i = len(args)
		case flag == "" && verb == "doc":
			r.documented(args[i:])
			return
		case flag == "":
			named = true
			packages = append(packages, r.find(args[i])...)
		case flag == "args" && verb == "test":
			rest = append(rest, args[i+1:]...)
			i = len(args)
		case slices.Contains(goPlain, flag):
		case slices.Contains(goValued, flag):
			if !hasValue {
				i++
				if i == len(args) {
					r.complain("-%s without a value", flag)
					return
				}
				value = args[i]
			}
			if flag == "C" {
				if r.dir = path.Join(r.dir, value); !r.folder(r.dir) {
					r.complain("no folder %s", r.dir)
				}
			}
			patterns[flag] = value
		case verb == "test":
			rest = append(rest, args[i])
			if !hasValue && i+1 < len(args) && !strings.ContainsAny(args[i+1][:min(1, len(args[i+1]))], "-.") {
				i++ // its value
			}
		default:
			r.complain("go %s has no flag -%s", verb, flag)
		}
	}
	if !named && verb != "doc" {
		packages = r.find(".")
	}
	for flag, prefixes := range map[string][]string{"run": {"Test", "Example", "Fuzz"}, "bench": {"Benchmark"}, "fuzz": {"Fuzz"}} {
		if value, ok := patterns[flag]; ok && verb == "test" && value != "^$" {
			r.matches(packages, value, prefixes)
		}
	}
	if verb == "run" && len(packages) > 0 && packages[0].name != "main" {
		r.complain("%s is no program", packages[0].name)
	}
	for _, arg := range rest {
		if flag, _, _ := flagOf(arg); flag != "" && !slices.ContainsFunc(packages, func(p *pkg) bool { return p.flags()[flag] }) {
			r.complain("nothing there defines -%s", flag)
		}
	}
}

// flagOf splits -name=value; the name is empty if arg is no flag.
func flagOf(arg string) (name, value string, hasValue bool) {
	if len(arg) < 2 || arg[0] != '-' {
		return "", "", false
	}
	return strings.Cut(strings.TrimLeft(arg, "-"), "=")
}

// find returns the packages that a pattern means.
func (r *reader) find(pattern string) []*pkg {
	if elsewhere(pattern) {
		return nil
	}
	found, ok := r.packagesAt(r.dir, pattern)
	if !ok {
		r.complain("no package %s in %s", pattern, r.dir)
	}
	return found
}

// matches checks that a pattern matches a test.
func (r *reader) matches(packages []*pkg, pattern string, prefixes []string) {
	first, _, _ := strings.Cut(pattern, "/")
	re, err := regexp.Compile(first)
	if err != nil {
		r.complain("%v", err)
		return
	}
	for _, p := range packages {
		for name := range p.declared(true) {
			if re.MatchString(name) && slices.ContainsFunc(prefixes, func(s string) bool { return strings.HasPrefix(name, s) }) {
				return
			}
		}
	}
	r.complain("%s matches nothing there", pattern)
}

// documented checks the arguments of go doc: a package, then a symbol, or both in one.
func (r *reader) documented(args []string) {
	where, symbol := args[0], ""
	if len(args) > 1 {
		symbol = args[1]
	} else if dir, name := path.Split(where); strings.Contains(strings.TrimLeft(name, "."), ".") {
		name, symbol, _ = strings.Cut(name, ".")
		where = dir + name
	}
	if !strings.HasPrefix(where, ".") && !strings.HasPrefix(where, modulePath) && r.folder(path.Join(r.dir, where)) {
		where = "./" + where // go doc looks there too
	}
	packages := r.find(where)
	if symbol != "" && len(packages) > 0 && !packages[0].declared(false)[symbol] {
		r.complain("no %s there", symbol)
	}
}

// flags returns the names of the flags that a program, or a package's tests, define.
func (p *pkg) flags() map[string]bool {
	names := map[string]bool{}
	for _, f := range p.files {
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			sel, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			at := 0
			switch kind, isVar := strings.CutSuffix(sel.Sel.Name, "Var"); kind {
			case "Bool", "Duration", "Float64", "Int", "Int64", "String", "Uint", "Uint64", "Text", "Func", "BoolFunc", "":
				if isVar {
					at = 1
				}
			default:
				return true
			}
			if at < len(call.Args) {
				if lit, ok := call.Args[at].(*ast.BasicLit); ok && lit.Kind == token.STRING && len(call.Args) > at+1 {
					if name, err := strconv.Unquote(lit.Value); err == nil {
						names[name] = true
					}
				}
			}
			return true
		})
	}
	return names
}
