package redistest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rlock-go/redisson/internal/testkit/deathsig"
)

// process is a started redis-server and its log.
type process struct {
	cmd *exec.Cmd
	log string
	// gone is closed when the process has ended.
	gone chan struct{}
}

// launch starts bin with its output appended to the file log.
func launch(bin string, args []string, log string) (*process, error) {
	out, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	p := &process{cmd: exec.Command(bin, args...), log: log, gone: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = out, out
	p.cmd.SysProcAttr = deathsig.Attr(syscall.SIGKILL)

	started := make(chan error, 1)
	go func() {
		// "Die with the parent" means the parent's thread, so the thread that
		// starts the server stays until the server is gone.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			_ = p.cmd.Wait()
			close(p.gone)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", bin, err)
	}
	return p, nil
}

func (p *process) pid() int { return p.cmd.Process.Pid }

func (p *process) pause() error { return pause(p.cmd.Process) }

func (p *process) resume() error { return resume(p.cmd.Process) }

func (p *process) ended() bool {
	select {
	case <-p.gone:
		return true
	default:
		return false
	}
}

// end sends sig and waits; a process that outlives the wait is killed.
func (p *process) end(sig syscall.Signal) {
	_ = p.cmd.Process.Signal(sig)
	if sig != syscall.SIGKILL {
		_ = p.resume() // a frozen process sees no signal but SIGKILL
	}
	select {
	case <-p.gone:
		return
	case <-time.After(stopTimeout):
	}
	_ = p.cmd.Process.Kill()
	<-p.gone // a busy kernel sometimes takes half a minute
}

// lastLog returns the end of the server's log, for error texts.
func (p *process) lastLog() string { return strings.ReplaceAll(lastLines(p.log, 5), "\n", " | ") }

// lastLines returns the last n lines of a file, or why it can't be read.
func lastLines(file string, n int) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	return string(bytes.Join(lines[max(0, len(lines)-n):], []byte("\n")))
}

// infoInt finds a number in the text of INFO.
func infoInt(info, field string) (int, error) {
	for line := range strings.Lines(info) {
		if v, ok := strings.CutPrefix(line, field+":"); ok {
			return strconv.Atoi(strings.TrimSpace(v))
		}
	}
	return 0, fmt.Errorf("INFO without %s", field)
}
