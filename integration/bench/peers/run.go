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

	"github.com/rlock-go/redisson/internal/testkit/deathsig"
)

// missingVariable is set in the environment of the binary that has the peers. It is a JSON object with the reasons for
// the missing ones, by name.
const missingVariable = "RLOCK_BENCH_MISSING"

// BuiltIn builds the program again with what is wanted and can be had, runs it with the same arguments, and exits with
// its status. In that other process BuiltIn returns the reasons for the missing peers, by name.
func BuiltIn(wanted Wanted) (missing map[string]string, err error) {
	if text, built := os.LookupEnv(missingVariable); built {
		err = json.Unmarshal([]byte(text), &missing)
		return missing, err
	}
	code, err := again(wanted)
	if err == nil {
		os.Exit(code)
	}
	return nil, err
}

func again(wanted Wanted) (code int, err error) {
	// The terminal sends an interrupt to the other process too, which ends it.
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
	cmd := exec.Command(binary, os.Args[1:]...)
	cmd.Env = append(os.Environ(), missingVariable+"="+string(text))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = deathsig.Attr(syscall.SIGTERM)
	err = cmd.Run()
	if e, ended := errors.AsType[*exec.ExitError](err); ended {
		return max(e.ExitCode(), 1), nil // it has printed the reason
	}
	return 0, err
}
