package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"github.com/rlock-go/redisson/integration/kit/subprocess"
)

// childVariable in the environment makes this program a child process. Its lines are a role, a peer, the server's
// address and the role's argument.
const childVariable = "RLOCK_BENCH_CHILD"

// child is another process of this program. It ends when its standard input is closed.
type child struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out chan string // its lines; closed when its output ends
}

func startChild(role, peer, addr, argument string) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &child{cmd: exec.Command(self), out: make(chan string, 1)}
	c.cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s\n%s\n%s\n%s", childVariable, role, peer, addr, argument))
	var out io.Reader
	if c.in, out, err = subprocess.Start(c.cmd, syscall.SIGTERM); err != nil {
		return nil, err
	}
	go func() {
		defer close(c.out)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			c.out <- lines.Text()
		}
	}()
	return c, nil
}

var errEnded = errors.New("the child process ended")

// line returns the child's next line.
func (c *child) line(limit time.Duration) (string, error) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case text, ok := <-c.out:
		if !ok {
			return "", errEnded
		}
		return text, nil
	case <-timer.C:
		return "", errHang
	}
}

func (c *child) tell(text string) error {
	_, err := io.WriteString(c.in, text+"\n")
	return err
}

func (c *child) askTime(question string) (_ int64, err error) {
	defer caught(&err)
	check(c.tell(question))
	text := must(c.line(grace))
	return strconv.ParseInt(text, 10, 64)
}

// close ends the child, by force if it takes longer than grace. The child's locks remain until the server is cleared.
func (c *child) close() {
	c.in.Close()
	go func() {
		for range c.out {
		}
	}()
	if !within(grace, func() { _ = c.cmd.Wait() }) {
		_ = c.cmd.Process.Kill()
	}
}
