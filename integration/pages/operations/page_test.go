package operations_test

import (
	"os"
	"strings"
	"testing"
)

const (
	operations = "docs/operations.md"
	topologies = "docs/topologies.md"
	wire       = "docs/dev/wire.md"
	prompt     = "redis> "
	shell      = "$ "
)

// step is a command on the page with its output.
type step struct {
	command string
	output  []string
	first   int // the number of the output's first line, from 0
}

// section has what the tests need of the text under one heading.
type section struct {
	file  string
	steps []step
	logs  []step // blocks of log lines, without a command
}

// readPages splits both pages by heading.
func readPages(t *testing.T) map[string]*section {
	t.Helper()
	sections := map[string]*section{}
	for _, file := range []string{operations, wire} {
		readPage(t, file, sections)
	}
	return sections
}

// linesOf returns the lines of a page.
func linesOf(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile("../../../" + file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(text), "\n")
}

// readPage adds the sections of one page.
func readPage(t *testing.T, file string, sections map[string]*section) {
	t.Helper()
	lines := linesOf(t, file)
	now, language := &section{file: file}, ""
	for i, line := range lines {
		switch {
		case language == "" && strings.HasPrefix(line, "#"):
			now = &section{file: file}
			name := strings.TrimLeft(line, "# ")
			if sections[name] != nil {
				t.Fatalf("%s, line %d: a second section %q", file, i+1, name)
			}
			sections[name] = now
		case language == "" && strings.HasPrefix(line, "```"):
			switch language = strings.TrimPrefix(line, "```"); language {
			case "":
				t.Fatalf("%s, line %d: a block of no language", file, i+1)
			case "text":
				now.logs = append(now.logs, step{first: i + 1})
			}
		case line == "```":
			language = ""
		case language == "text":
			last := &now.logs[len(now.logs)-1]
			last.output = append(last.output, line)
		case language == "redis" && strings.HasPrefix(line, prompt):
			now.steps = append(now.steps, step{command: strings.TrimPrefix(line, prompt), first: i + 1})
		case language == "console" && strings.HasPrefix(line, shell):
			now.steps = append(now.steps, step{command: strings.TrimPrefix(line, shell), first: i + 1})
		case language == "redis" || language == "console":
			if len(now.steps) == 0 {
				t.Fatalf("%s, line %d: output of no command", file, i+1)
			}
			last := &now.steps[len(now.steps)-1]
			last.output = append(last.output, line)
		}
	}
}
