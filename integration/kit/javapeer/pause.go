package javapeer

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

const (
	pauseTimeout = 10 * time.Second
	pausePoll    = 2 * time.Millisecond
)

// Pause freezes the JVM, its watchdog included, and returns when every thread has stopped (where the system shows
// that). Commands sent meanwhile run after [Peer.Resume]. Quit and Kill work on a paused peer.
func (p *Peer) Pause() error {
	if err := p.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	deadline := time.Now().Add(pauseTimeout)
	for !p.stopped() {
		if time.Now().After(deadline) {
			return fmt.Errorf("javapeer: pid %d does not stop", p.PID)
		}
		time.Sleep(pausePoll)
	}
	return nil
}

// Resume undoes [Peer.Pause]; a running peer is left alone.
func (p *Peer) Resume() error { return p.signal(syscall.SIGCONT) }

func (p *Peer) signal(s syscall.Signal) error {
	// Signal refuses after Wait has returned, so it never hits another process that got the same id.
	if err := p.cmd.Process.Signal(s); err != nil {
		return fmt.Errorf("javapeer: %v to pid %d: %w", s, p.PID, err)
	}
	return nil
}

func (p *Peer) stopped() bool {
	stats, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", p.PID))
	for _, name := range stats {
		stat, err := os.ReadFile(name)
		if err != nil {
			continue // the thread has ended
		}
		// The thread's name, in parentheses, may hold anything.
		i := bytes.LastIndexByte(stat, ')')
		if i < 0 || !bytes.HasPrefix(stat[i+1:], []byte(" T")) {
			return false
		}
	}
	return true
}
