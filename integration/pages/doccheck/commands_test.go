package doccheck

import (
	"fmt"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
)

// fenceLanguages are the languages that a fence may name, apart from commands.
var fenceLanguages = []string{
	"acl", "dockerfile", "go", "groovy", "hcl", "html", "ini", "java", "json", "kotlin", "lua", "mermaid", "promql",
	"properties", "redis", "sql", "text", "toml", "xml", "yaml",
}

// tools are programs that a reader's machine has. The check does not look into their arguments.
var tools = []string{
	"apt-get", "awk", "cat", "cp", "curl", "date", "diff", "docker", "echo", "export", "false", "git", "grep", "head",
	"java", "jq", "kill", "ls", "mkdir", "mvn", "openssl", "ps", "redis-cli", "redis-server", "rlock", "rm", "sed", "set", "sleep",
	"sort", "sudo", "tail", "timeout", "true", "unset", "wc", "xargs",
}

// elsewhere tells a folder that stands for a folder of the reader's.
func elsewhere(dir string) bool {
	return strings.HasPrefix(dir, "/") || strings.HasPrefix(dir, "~") || strings.ContainsAny(dir, "$<")
}

// reader checks that commands could run, and follows their cd from folder to folder.
type reader struct {
	*checkout
	make  makefile
	dir   string // the current folder
	wrong []string
}

// badCommands lists commands in the manual's blocks and spans that can't run as they stand, and fences that name no
// language.
func (c *checkout) badCommands() (wrong []string) {
	m, err := c.makefile()
	if err != nil {
		return []string{err.Error()}
	}
	for _, name := range sorted(c.pages) {
		if !manual(name) {
			continue
		}
		p := c.pages[name]
		for _, b := range p.blocks {
			lines, ok := b.script()
			if !ok && !slices.Contains(fenceLanguages, b.language) {
				line := 0
				if len(b.lines) > 0 {
					line = b.lines[0].line
				}
				wrong = append(wrong, fmt.Sprintf("%s: a block of language %q", where(name, line), b.language))
			}
			r := reader{checkout: c, make: m, dir: "."}
			for _, l := range lines {
				r.line(where(name, l.line), l.text)
			}
			wrong = append(wrong, r.wrong...)
		}
		for _, s := range p.spans {
			for _, flag := range c.unknownFlags(s.text) {
				wrong = append(wrong, fmt.Sprintf("%s: no program defines -%s", where(name, s.line), flag))
			}
			if spanCommand.MatchString(s.text) {
				r := reader{checkout: c, make: m, dir: "."}
				r.line(where(name, s.line), s.text)
				wrong = append(wrong, r.wrong...)
			}
		}
	}
	return wrong
}

// spanCommand matches a code span that is a command.
var spanCommand = regexp.MustCompile(`^(make [a-z]|go (run|test|doc|vet|build|tool) \S|cd \S+ &&)`)

// unknownFlags lists the flags in a span that begins with one, such as -quick or -rows 3, that no program here has.
// Flags in capitals belong to other programs.
func (c *checkout) unknownFlags(span string) (unknown []string) {
	if !flagSpan.MatchString(span) {
		return nil
	}
	for _, word := range strings.Fields(span) {
		flag, _, _ := flagOf(word)
		known := !flagSpan.MatchString(word) || flag == "h" || slices.Contains(goPlain, flag) || slices.Contains(goValued, flag)
		for _, p := range c.packages {
			known = known || p.flags()[flag]
		}
		if !known {
			unknown = append(unknown, flag)
		}
	}
	return unknown
}

var flagSpan = regexp.MustCompile(`^-[a-z]`)

func (r *reader) line(at, line string) {
	before := len(r.wrong)
	commands, err := parseScript(line)
	if err != nil {
		r.complain("%v", err)
	}
	for _, c := range commands {
		r.command(c)
	}
	for i := range r.wrong[before:] {
		r.wrong[before+i] = fmt.Sprintf("%s: %s: %s", at, line, r.wrong[before+i])
	}
}

func (r *reader) complain(format string, args ...any) {
	r.wrong = append(r.wrong, fmt.Sprintf(format, args...))
}

func (r *reader) command(c command) {
	if len(c.words) == 0 {
		return
	}
	name, args := c.words[0], c.words[1:]
	switch {
	case elsewhere(r.dir) && name != "cd":
	case name == "cd":
		r.cd(args)
	case name == "make":
		r.makes(args)
	case name == "go":
		r.golang(args)
	case name == "bash" && len(args) > 1 && strings.HasPrefix(args[0], "-") && strings.HasSuffix(args[0], "c"):
		r.line("inside", args[1])
	case strings.HasSuffix(name, "step.sh") && len(args) > 1:
		r.command(command{words: args[1:]})
	case strings.Contains(name, "/"):
		if at := path.Join(r.dir, name); !elsewhere(name) && !r.exists(at) {
			r.complain("no %s", at)
		}
	case !slices.Contains(tools, name):
		r.complain("no command %s", name)
	}
}

func (r *reader) cd(args []string) {
	if len(args) != 1 {
		r.complain("cd to %q", args)
		return
	}
	if elsewhere(args[0]) {
		r.dir = args[0]
		return
	}
	if r.dir = path.Join(r.dir, args[0]); !r.folder(r.dir) {
		r.complain("no folder %s", r.dir)
	}
}

// makes checks targets and variables. With variables it asks make for the resulting commands.
func (r *reader) makes(args []string) {
	if r.dir != "." {
		r.complain("no Makefile in %s", r.dir)
		return
	}
	given := false
	before := len(r.wrong)
	for _, a := range args {
		name, _, set := strings.Cut(a, "=")
		switch {
		case set && !strings.Contains(r.make.text, "$("+name+")"):
			r.complain("the Makefile has no $(%s)", name)
		case !set && strings.HasPrefix(a, "-"):
		case !set && !r.make.has(a):
			r.complain("no target %s", a)
		case !set && strings.Contains(r.make.recipes[a], "$(MAKE)"):
			return // make -n would run it
		}
		given = given || set
	}
	if !given || len(r.wrong) > before {
		return
	}
	dry := exec.Command("make", append([]string{"-n", "--no-print-directory", "-C", r.root}, args...)...)
	out, err := dry.CombinedOutput()
	if err != nil {
		r.complain("make -n: %v: %s", err, out)
		return
	}
	r.line("make", strings.TrimSpace(string(out)))
	r.dir = "."
}
