package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/rlock-go/redisson/rlock"
)

// run is one `rlock run`.
type run struct {
	*server
	name                         string
	command                      []string
	wait, lease, grace, watchdog time.Duration
	kind, onLost                 string

	hold    hold
	child   *exec.Cmd
	ended   chan error
	signals chan os.Signal
	foreign bool // the terminal was given to the child
}

func runCommand(s *server) *cobra.Command {
	r := &run{server: s}
	c := &cobra.Command{
		Use: "run [flags] NAME -- COMMAND [ARGUMENT…]", Short: "Run a command while a lock is held",
		Long: `run waits for the lock, runs the command, and releases the lock when it ends.
Without --lease the lock is renewed while the command runs.

Signals are passed on to the command and its children, which are a process group
of their own. With a terminal as input and output they have it. If the lock is
lost, they get SIGTERM, and SIGKILL after the grace (--on-lost term), SIGKILL at
once (kill), or nothing but a line on standard error (warn). If rlock itself is
killed, the command is killed too (Linux), and the lease ends.

In the command's environment: RLOCK_NAME; RLOCK_OWNER, or the permit's id;
RLOCK_VALID_UNTIL, when the lease ends unless it is renewed (RFC 3339); and
RLOCK_TOKEN, the fencing token (--kind fenced).

Exit status: the command's, 128 and the signal's number if one ended it · 75 not
acquired · 76 lost while the command ran · 69 the server can't be reached, or
refused · 64 wrong usage · 126, 127 the command can't be run, or is not there.`,
	}
	c.Flags().DurationVar(&r.wait, "wait", 10*time.Second, "how long to wait for the lock; 0: one attempt, below 0: without limit")
	c.Flags().DurationVar(&r.lease, "lease", 0, "a fixed lease, which is not renewed; 0: renewed")
	c.Flags().StringVar(&r.kind, "kind", "lock", "lock, fair, fenced, read, write, spin, nonreentrant or permit")
	c.Flags().StringVar(&r.onLost, "on-lost", "term", "term, kill or warn")
	c.Flags().DurationVar(&r.grace, "grace", 5*time.Second, "between SIGTERM and SIGKILL")
	c.Flags().DurationVar(&r.watchdog, "watchdog", 30*time.Second, "the lease of a lock that is renewed, each third of it")
	for flag, values := range map[string][]string{"kind": kindNames, "on-lost": onLost} {
		_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
	oneName(s, c)
	c.Args = nil
	c.RunE = func(c *cobra.Command, args []string) error {
		if c.ArgsLenAtDash() != 1 || len(args) < 2 {
			return wrong("it is: rlock run [flags] NAME -- COMMAND [ARGUMENT…]")
		}
		if !slices.Contains(kindNames, r.kind) {
			return wrong("--kind is one of %s", strings.Join(kindNames, ", "))
		}
		if !slices.Contains(onLost, r.onLost) {
			return wrong("--on-lost is one of %s", strings.Join(onLost, ", "))
		}
		r.name, r.command = args[0], args[1:]
		return judged(r.run())
	}
	return c
}

var onLost = []string{"term", "kill", "warn"}

// hold is what a lock and a permit have in common once they are acquired.
type hold interface {
	Done() <-chan struct{}
	Err() error
	ValidUntil() time.Time
}

func (r *run) run() error {
	path, err := exec.LookPath(r.command[0])
	switch {
	case errors.Is(err, fs.ErrPermission):
		return &exit{126, err}
	case err != nil:
		return &exit{127, err}
	}
	r.signals = make(chan os.Signal, 16)
	for _, s := range passedOn {
		if !signal.Ignored(s) { // by nohup
			signal.Notify(r.signals, s)
		}
	}
	host, _ := os.Hostname()
	client, err := r.open(context.Background(),
		rlock.WithWatchdogTimeout(r.watchdog), rlock.WithConnectionName(fmt.Sprintf("%s%s:%d", runName(r.name), ascii(host), os.Getpid())))
	if err != nil {
		return err
	}
	defer client.Close()
	environment, release, err := r.acquire(client)
	if err != nil {
		return err
	}
	r.child = exec.Command(path, r.command[1:]...)
	r.child.Args[0] = r.command[0]
	r.child.Stdin, r.child.Stdout, r.child.Stderr = os.Stdin, os.Stdout, os.Stderr
	r.child.Env = append(os.Environ(), environment...)
	r.group()
	if err := r.child.Start(); err != nil {
		_ = release(context.Background()) // or its lease ends
		return &exit{126, err}
	}
	r.started()
	r.ended = make(chan error, 1)
	go func() { r.ended <- r.child.Wait() }()
	wasLost, result := r.attend()
	r.takeBack()
	err = release(context.Background())
	switch {
	case wasLost || errors.Is(err, rlock.ErrLeaseLost) || errors.Is(err, rlock.ErrNotHeld):
		return &exit{lost, fmt.Errorf("%s was lost while the command ran: others may have had it", visible(r.name))}
	case err != nil:
		fmt.Fprintln(os.Stderr, "rlock:", err)
	}
	return result
}

// acquire waits for the lock, unless a signal ends the wait.
func (r *run) acquire(client *rlock.Client) (environment []string, release func(context.Context) error, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		environment, release, err = r.take(ctx, client)
	}()
	for {
		select {
		case <-done:
			return environment, release, err
		case s := <-r.signals:
			if !ends(s) {
				pause(s)
				continue
			}
			cancel()
			<-done
			if err == nil {
				err = release(context.Background())
			}
			number, _ := s.(syscall.Signal)
			return nil, nil, &exit{128 + int(number), nil}
		}
	}
}

// attend passes signals on until the child has ended, and ends it if the lock is lost.
func (r *run) attend() (wasLost bool, result error) {
	over := r.hold.Done()
	var kill <-chan time.Time
	for {
		select {
		case s := <-r.signals:
			r.pass(s)
		case <-over:
			over, wasLost = nil, true
			fmt.Fprintf(os.Stderr, "rlock: %s is lost: %v\n", visible(r.name), r.hold.Err())
			switch r.onLost {
			case "term":
				r.signal(syscall.SIGTERM)
				kill = time.After(r.grace)
			case "kill":
				r.signal(syscall.SIGKILL)
			}
		case <-kill:
			kill = nil
			r.signal(syscall.SIGKILL)
		case err := <-r.ended:
			if kill != nil {
				r.empty(kill)
			}
			return wasLost, childs(err)
		}
	}
}

// empty waits until the lost child's own children have ended too, and kills
// them after the grace.
func (r *run) empty(kill <-chan time.Time) {
	for r.alive() {
		select {
		case <-kill:
			kill = nil
			r.signal(syscall.SIGKILL)
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// childs is how the child ended.
func childs(err error) error {
	e, ok := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		return nil
	case !ok:
		return err
	}
	if w, ok := e.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return &exit{128 + int(w.Signal()), nil}
	}
	return &exit{e.ExitCode(), nil}
}

// ascii is a host's name as a connection's may have it.
func ascii(name string) string {
	b := []byte(name)
	for i, c := range b {
		if c <= ' ' || c > '~' {
			b[i] = '_'
		}
	}
	return string(b)
}
