//go:build unix

package redistest

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
	"time"
)

func (p *process) pause() error {
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	// The signal is delivered a moment after kill(2) returned; where the system
	// shows the state, a test should not win that race.
	deadline := time.Now().Add(stopTimeout)
	for {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.pid()))
		if err != nil {
			return nil
		}
		// The name in parentheses may hold anything, so the state is looked for
		// behind the last of them.
		i := bytes.LastIndexByte(stat, ')')
		if i >= 0 && bytes.HasPrefix(stat[i+1:], []byte(" T")) {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("process %d does not stop: %s", p.pid(), stat)
		}
		time.Sleep(pollEvery)
	}
}

func (p *process) resume() error { return p.cmd.Process.Signal(syscall.SIGCONT) }
