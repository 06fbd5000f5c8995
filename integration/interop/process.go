package interop

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/rlock-go/redisson/integration/internal/subprocess"
)

// process is a Go process that carries out an order.
type process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr bytes.Buffer
	ended  bool
}

// launch starts the test binary again and returns when it is ready. It ends with the test.
func (s *scene) launch(o order) *process {
	s.Helper()
	o.URL, o.Name, o.Kind = s.server.URL(), s.name, s.kind
	text, err := json.Marshal(o)
	s.must(err)
	binary, err := os.Executable()
	s.must(err)
	p := &process{cmd: exec.Command(binary)}
	p.cmd.Env = append(os.Environ(), orderEnv+"="+string(text))
	p.cmd.Stderr = &p.stderr
	in, out, err := subprocess.Start(p.cmd, syscall.SIGKILL)
	s.must(err)
	p.in, p.out = in, bufio.NewReader(out)
	s.Cleanup(func() { p.kill() })
	if line, err := p.out.ReadString('\n'); line != "ready\n" {
		p.kill()
		s.Fatalf("the process said %q, %v, and on standard error:\n%s", line, err, p.stderr.String())
	}
	return p
}

// count has a process that is ready begin at start, and returns when it is done.
func (p *process) count(start int64) (tally, error) {
	var sum tally
	if _, err := fmt.Fprintln(p.in, start); err != nil {
		return sum, err
	}
	line, err := p.out.ReadString('\n')
	if err == nil {
		err = json.Unmarshal([]byte(line), &sum)
	}
	if exit := p.wait(); err == nil {
		// Races are told by the exit status.
		err = exit
	}
	if err != nil {
		err = fmt.Errorf("a Go process: %w\n%s", err, strings.TrimSpace(p.stderr.String()))
	}
	return sum, err
}

// kill ends the process as a crash would and returns when it is gone.
func (p *process) kill() {
	if !p.ended {
		p.cmd.Process.Kill()
		p.wait()
	}
}

func (p *process) wait() error {
	p.ended = true
	return p.cmd.Wait()
}
