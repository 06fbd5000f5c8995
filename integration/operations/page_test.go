package operations_test

import (
	"os"
	"strings"
	"testing"
)

const (
	pageFile = "../../docs/operations.md"
	prompt   = "redis> "
)

// step is a command on the page with its output.
type step struct {
	command string
	output  []string
	first   int // the number of the output's first line, from 0
}

// section is what stands below one heading that a test has to do with.
type section struct {
	steps []step
	logs  []step   // blocks of log lines, without a command
	code  []string // blocks of Go
}

// readPage takes the page apart, by heading.
func readPage(t *testing.T) (lines []string, sections map[string]*section) {
	t.Helper()
	text, err := os.ReadFile(pageFile)
	if err != nil {
		t.Fatal(err)
	}
	lines = strings.Split(string(text), "\n")
	sections = map[string]*section{}
	now, language := &section{}, ""
	for i, line := range lines {
		switch {
		case language == "" && strings.HasPrefix(line, "#"):
			now = &section{}
			sections[strings.TrimLeft(line, "# ")] = now
		case language == "" && strings.HasPrefix(line, "```"):
			switch language = strings.TrimPrefix(line, "```"); language {
			case "":
				t.Fatalf("line %d: a block of no language", i+1)
			case "text":
				now.logs = append(now.logs, step{first: i + 1})
			case "go":
				now.code = append(now.code, "")
			}
		case line == "```":
			language = ""
		case language == "go":
			now.code[len(now.code)-1] += line + "\n"
		case language == "text":
			last := &now.logs[len(now.logs)-1]
			last.output = append(last.output, line)
		case language == "redis" && strings.HasPrefix(line, prompt):
			now.steps = append(now.steps, step{command: strings.TrimPrefix(line, prompt), first: i + 1})
		case language == "redis":
			if len(now.steps) == 0 {
				t.Fatalf("line %d: output of no command", i+1)
			}
			last := &now.steps[len(now.steps)-1]
			last.output = append(last.output, line)
		}
	}
	return lines, sections
}

// cells are the cells of the rows of the table with this head.
func cells(t *testing.T, head string) [][]string {
	t.Helper()
	lines, _ := readPage(t)
	var rows [][]string
	inside := false
	for _, line := range lines {
		switch {
		case line == head:
			inside = true
		case inside && !strings.HasPrefix(line, "|"):
			return rows
		case inside && !strings.HasPrefix(line, "|---"):
			row := strings.Split(strings.Trim(line, "|"), " | ")
			for i := range row {
				row[i] = strings.TrimSpace(row[i])
			}
			rows = append(rows, row)
		}
	}
	if !inside {
		t.Fatalf("%s has no table %s", pageFile, head)
	}
	return rows
}
