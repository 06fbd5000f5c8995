// Package tablefile reads and writes the files of docs/dev/tables. Each is written by one command, and pages link to
// it. The package also reads the tables of other pages.
package tablefile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rlock-go/redisson/integration/kit/codeedit"
)

// mark begins the last line of a file's head. The head is written by hand; the command writes all that follows it.
const mark = "\nWritten by `"

// Path is the file of a table, relative to the root of the checkout.
func Path(name string) string { return "docs/dev/tables/" + name + ".md" }

// Read returns the head of a table's file, and what its command wrote after it.
func Read(name string) (head, table string, err error) {
	root, err := codeedit.Root()
	if err != nil {
		return "", "", err
	}
	text, err := os.ReadFile(filepath.Join(root, Path(name)))
	if err != nil {
		return "", "", err
	}
	before, rest, found := strings.Cut(string(text), mark)
	line, table, closed := strings.Cut(rest, "\n")
	if !found || !closed {
		return "", "", fmt.Errorf("%s does not say what writes it", Path(name))
	}
	return before + mark + line + "\n", table, nil
}

// Rows returns the cells of a page's table with this head. The page's path is relative to the root of the checkout.
func Rows(t testing.TB, page, head string) (rows [][]string) {
	t.Helper()
	root, err := codeedit.Root()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "\n"+head+"\n")
	if !found {
		t.Fatalf("%s has no table %s", page, head)
	}
	for line := range strings.Lines(rest) {
		if !strings.HasPrefix(line, "|") {
			break
		}
		if strings.HasPrefix(line, "|---") {
			continue
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		for i, c := range cells {
			cells[i] = strings.TrimSpace(c)
		}
		rows = append(rows, cells)
	}
	return rows
}

// Write replaces what the command wrote, and keeps the head.
func Write(name, table string) error {
	root, err := codeedit.Root()
	if err != nil {
		return err
	}
	head, _, err := Read(name)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, Path(name)), []byte(head+"\n"+table), 0o644)
}
