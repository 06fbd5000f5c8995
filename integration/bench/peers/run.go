package peers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/rlock-go/redisson/internal/deathsig"
)

// Run runs the program again, with these arguments and what else is wanted and can be built in, and gives its exit code.
// The variable in its environment says why others are missing: an object of JSON, reasons by names.
func Run(args []string, wanted Wanted, variable string) (int, error) {
	// An interrupt from the keyboard goes to the other process too, and ends it.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	temp, err := os.MkdirTemp("", "rlock-bench-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(temp)
	binary := filepath.Join(temp, "bench")
	missing, err := Build(ctx, ".", binary, wanted, os.Stderr)
	if err != nil {
		return 0, fmt.Errorf("building with more peers, which is done in the folder of the benchmark: %w", err)
	}
	text, err := json.Marshal(missing)
	if err != nil {
		return 0, err
	}
	cmd := exec.Command(binary, args...)
	cmd.Env = append(os.Environ(), variable+"="+string(text))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = deathsig.Attr(syscall.SIGTERM)
	err = cmd.Run()
	if e, ended := errors.AsType[*exec.ExitError](err); ended {
		return max(e.ExitCode(), 1), nil
	}
	return 0, err
}
