//go:build unix

package redistest

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
	"time"
)

// pause freezes a process, and returns once it is stopped.
func pause(p *os.Process) error {
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	// The signal arrives a moment after kill(2) returned. Where the system shows the
	// state, wait for it: otherwise the server may still answer.
	deadline := time.Now().Add(stopTimeout)
	for {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Pid))
		if err != nil {
			return nil
		}
		// The name in parentheses may contain anything, so the state follows the last
		// closing one.
		i := bytes.LastIndexByte(stat, ')')
		if i >= 0 && bytes.HasPrefix(stat[i+1:], []byte(" T")) {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("process %d does not stop: %s", p.Pid, stat)
		}
		time.Sleep(pollEvery)
	}
}

// resume undoes pause.
func resume(p *os.Process) error { return p.Signal(syscall.SIGCONT) }
