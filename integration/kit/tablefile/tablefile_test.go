package tablefile

import (
	"path/filepath"
	"strings"
	"testing"
)

// A file that no command writes is a page, and belongs with the other pages.
func TestEachFileSaysWhatWritesIt(t *testing.T) {
	files, err := filepath.Glob("../../../docs/dev/tables/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, file := range files {
		if _, table, err := Read(strings.TrimSuffix(filepath.Base(file), ".md")); err != nil || table == "" {
			t.Errorf("%s: %v", file, err)
		}
	}
}
