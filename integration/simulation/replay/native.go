package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/rlock-go/redisson/integration/simulation"
)

// player plays a plan with a schedule.
type player interface {
	play(ctx context.Context, plan simulation.Plan, schedule uint64) (*simulation.Result, error)
}

// native plays in a process of this machine, some twenty times faster than host, where goroutines run in parallel. So
// the same plan may come out otherwise each time, and a schedule means nothing.
type native struct{ binary string }

// newNative builds the simulation into a file of the folder, which the caller removes.
func newNative(ctx context.Context, root, folder, overlay string) (*native, error) {
	n := &native{filepath.Join(folder, fmt.Sprintf("simulation-%d.bin", os.Getpid()))}
	return n, build(ctx, root, n.binary, overlay)
}

// hangs is how long a play may take that needs a second.
const hangs = 2 * time.Minute

func (n *native) play(ctx context.Context, plan simulation.Plan, _ uint64) (*simulation.Result, error) {
	request, err := json.Marshal(plan)
	if err != nil {
		return nil, err
	}
	process := exec.CommandContext(ctx, n.binary, "-test.run", "^TestReplay$", "-test.timeout", hangs.String())
	process.Stdin = bytes.NewReader(request)
	printed, err := process.CombinedOutput()
	if _, exited := errors.AsType[*exec.ExitError](err); exited {
		return crashed(plan, printed), nil
	} else if err != nil {
		return nil, err
	}
	return answer(printed)
}

// build builds the test that plays what this command sends.
func build(ctx context.Context, root, binary, overlay string, environ ...string) error {
	build := exec.CommandContext(ctx, "go", "test", "-vet=off", "-tags", "replay", "-overlay", overlay, "-c", "-o", binary, "./simulation")
	build.Dir = filepath.Join(root, "integration")
	build.Env = append(os.Environ(), environ...)
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("the simulation does not build: %w\n%s", err, out)
	}
	return nil
}

// answer reads the result and the history that the test printed.
func answer(printed []byte) (*simulation.Result, error) {
	_, text, found := bytes.Cut(printed, []byte(simulation.ReplayMark))
	if !found {
		return nil, fmt.Errorf("the play has no result:\n%s", printed)
	}
	text, history, _ := bytes.Cut(text, []byte("\n"))
	var result simulation.Result
	if err := json.Unmarshal(text, &result); err != nil {
		return nil, err
	}
	result.Log = strings.Split(string(history), "\n")
	return &result, nil
}

// crashed makes the result of a play that ended its process, by a panic or because nothing could go on.
func crashed(plan simulation.Plan, printed []byte) *simulation.Result {
	return &simulation.Result{
		Violations: []string{fmt.Sprintf("seed %d at an unknown time: panic: %s", plan.Seed, firstLine(printed))},
		Stacks:     string(printed),
	}
}

func firstLine(text []byte) []byte {
	for line := range bytes.Lines(text) {
		if bytes.Contains(line, []byte("panic: ")) || bytes.Contains(line, []byte("fatal error: ")) {
			return bytes.TrimSpace(line)
		}
	}
	return []byte("it ended by itself")
}
