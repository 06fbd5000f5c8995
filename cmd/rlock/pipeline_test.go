package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// shell starts an interactive shell with job control on a terminal. It knows the tool as $TOOL, and $FILE is a
// file that does not exist. Its end must be waited for by bye.
func shell(t *testing.T, url string) (c *tool, types func(string), bye func()) {
	t.Helper()
	c = prepare(t, url, "")
	c.Path, c.Args = "/bin/bash", []string{"bash", "--norc", "--noediting", "-i"}
	c.Env = append(c.Env, "PS1=", "PS2=", "TOOL="+os.Args[0], "FILE="+filepath.Join(t.TempDir(), "file"))
	f, read := c.onTerminal(pty.Winsize{Rows: 24, Cols: 250})
	types = func(text string) { fmt.Fprint(f, text) }
	return c, types, func() {
		t.Helper()
		types("exit 3\n")
		if got := c.status(); got != 3 {
			t.Errorf("the shell's status is %d: %s", got, &c.out)
		}
		<-read
	}
}

// A pager reads the terminal while the command that it shows still runs. Either may be first in the pipeline, and
// a command whose output goes to a pipe reads the terminal too.
func TestPipelineSharesTheTerminal(t *testing.T) {
	t.Parallel()
	c, types, bye := shell(t, single(t))
	for i, pipeline := range []string{
		`"$TOOL" run lock -- bash -c 'echo page; until test -e "$FILE"; do sleep 0.05; done' | (read text; echo r""eady %d; read key </dev/tty; echo g""ot $key %d; touch "$FILE")`,
		`bash -c 'echo page; until test -e "$FILE"; do sleep 0.05; done' | "$TOOL" run lock -- bash -c 'read text; echo r""eady %d; read key </dev/tty; echo g""ot $key %d; touch "$FILE"'`,
		`"$TOOL" run lock -- bash -c 'echo r""eady %d >/dev/tty; read key; echo g""ot $key %d' | cat`,
		`text=$("$TOOL" run lock -- bash -c 'echo r""eady %d >/dev/tty; read key; echo g""ot $key %d'); echo $text`,
	} {
		types(`rm -f "$FILE"; ` + fmt.Sprintf(pipeline, i, i) + "\n")
		c.says(fmt.Sprint("ready ", i))
		types("word\n")
		c.says(fmt.Sprint("got word ", i))
	}
	bye()
}

// Ctrl-Z stops the whole pipeline, whose lock is not renewed, and fg continues it. Ctrl-C reaches the command once,
// and other signals are passed on.
func TestSignalsInAPipeline(t *testing.T) {
	t.Parallel()
	c, types, bye := shell(t, single(t))
	has := func() bool { return c.stat(5) == c.stat(2) }
	types(`set -o pipefail; "$TOOL" run lock -- bash -c 'trap "echo c""aught >/dev/tty" INT; trap "echo p""assed >/dev/tty; exit 5" USR1; trap "echo w""oken >/dev/tty" CONT; ` +
		`echo parent $PPID . >/dev/tty; while :; do sleep 0.1; done' | bash -c 'trap "" INT; cat; echo at its e""nd'` + "\n")
	c.says(" .\r\n")
	parent, err := strconv.Atoi(regexp.MustCompile(`parent (\d+) \.`).FindStringSubmatch(c.out.String())[1])
	if err != nil {
		t.Fatal(err)
	}
	types("\x1a")
	c.says("the command is stopped")
	becomes(t, "the shell has the terminal", has, c.out.String)
	types("jobs -s\n")
	c.says("[1]+  Stopped")
	types("fg; echo status $? of the command\n")
	c.says("woken")
	becomes(t, "the pipeline has the terminal", func() bool { return !has() }, c.out.String)
	types("\x03")
	c.says("caught")
	if err := syscall.Kill(parent, syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	c.says("passed") // after whatever was sent because of Ctrl-C
	if n := strings.Count(c.out.String(), "caught"); n != 1 {
		t.Errorf("Ctrl-C came %d times: %s", n, &c.out)
	}
	c.says("at its end")
	c.says("status 5 of the command")
	bye()
}

// In a pipeline too a lost lock ends the command and its children, even those whose parent has ended by then. The others
// in the pipeline go on.
func TestLostLockEndsThePartOfAPipeline(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c, types, bye := shell(t, s.URL())
	types(`"$TOOL" run --watchdog 3s --grace 500ms lock -- sh -c 'sh -c "trap \"\" TERM; while :; do sleep 1; done" & echo pids $$ $! . >/dev/tty; wait' | ` +
		`(cat; echo reads o""n); echo status ${PIPESTATUS[0]}` + "\n")
	c.says(" .\r\n")
	pids := regexp.MustCompile(`pids (\d+) (\d+) \.`).FindStringSubmatch(c.out.String())[1:]
	if _, err := s.Dial(t).Do("DEL", "lock"); err != nil {
		t.Fatal(err)
	}
	c.says("reads on")
	c.says(fmt.Sprint("status ", lost))
	for _, pid := range pids {
		becomes(t, "process "+pid+" ends", func() bool { return gone(pid) }, nothing)
	}
	bye()
}
