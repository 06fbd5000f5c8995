// Package tool builds the command-line tool, for tests that run it beside Java or as the pages say.
package tool

import (
	"os"
	"os/exec"
	"path/filepath"

	"github.com/rlock-go/redisson/integration/internal/codeedit"
)

// Build builds cmd/rlock into a folder, and returns the program. Its module is its own, so its folder is where it is built.
func Build(folder string) (string, error) {
	root, err := codeedit.Root()
	if err != nil {
		return "", err
	}
	program := filepath.Join(folder, "rlock")
	cmd := exec.Command("go", "build", "-buildvcs=false", "-o", program, ".")
	cmd.Dir, cmd.Stderr = filepath.Join(root, "cmd", "rlock"), os.Stderr
	return program, cmd.Run()
}
