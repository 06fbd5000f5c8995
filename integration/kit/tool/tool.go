// Package tool builds the command-line tool, for tests that run it with Java or check the documentation's examples.
package tool

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rlock-go/redisson/integration/kit/codeedit"
	"github.com/rlock-go/redisson/integration/kit/testbed"
)

// Main builds the program, stores its path in program, and runs m as testbed.Main does.
func Main(m *testing.M, program *string, parallel string) {
	folder, err := os.MkdirTemp("", "tool")
	if err == nil {
		*program, err = Build(folder)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	testbed.Main(m, parallel, func() { os.RemoveAll(folder) })
}

// Build builds cmd/rlock into a folder and returns the program's path. It builds in cmd/rlock, which is a module.
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
