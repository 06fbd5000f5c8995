// Package subprocess starts child processes that programs and tests talk to over standard input and output.
package subprocess

import (
	"io"
	"os"
	"os/exec"
	"syscall"

	"github.com/rlock-go/redisson/internal/testkit/deathsig"
)

// Start starts cmd with a pipe to its standard input and one from its standard output. If this process ends first, the
// child gets the signal ending. Its standard error goes to cmd.Stderr, by default to that of this process.
func Start(cmd *exec.Cmd, ending syscall.Signal) (in io.WriteCloser, out io.Reader, err error) {
	cmd.SysProcAttr = deathsig.Attr(ending)
	if cmd.Stderr == nil {
		cmd.Stderr = os.Stderr
	}
	if in, err = cmd.StdinPipe(); err != nil {
		return nil, nil, err
	}
	if out, err = cmd.StdoutPipe(); err != nil {
		return nil, nil, err
	}
	return in, out, cmd.Start()
}
