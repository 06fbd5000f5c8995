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
	atLeast                      time.Duration
	kind, onLost                 string
	quiet, noTerminal            bool
	conflict                     int // the status if the lock is not acquired

	client  *rlock.Client
	hold    hold
	child   *exec.Cmd
	ended   chan error
	signals chan os.Signal
	group        // the child's
	halted  bool // the child is stopped
}

func runCommand(s *server) *cobra.Command {
	r := &run{server: s}
	c := &cobra.Command{
		Use: "run [flags] NAME -- COMMAND [ARGUMENT…]", Short: "Run a command while a lock is held",
		Long: `run waits for the lock, runs the command, and releases the lock when it ends.
Without --lease the lock is renewed while the command runs. A NAME that begins
with "-" stands behind a "--" of its own: rlock run -- -name -- COMMAND.

Signals are passed on to the command and its children, which are a process group
of their own. They get SIGTERM when the lease, if it is not renewed, ends in the
time of --grace, and SIGKILL when it ends, so that they have stopped when the
next one may begin (--on-lost term). If the lock is lost before, for example by
force, they get SIGTERM then, and SIGKILL after the grace. With --on-lost kill
they get SIGKILL when it is lost, and with warn nothing but a line on standard
error. If rlock itself is killed, the group is killed too, by a shell in
it that waits for that; without a /bin/sh only the command is (Linux). What has
left the group (setsid, a daemon) is not: its work is not excluded any more.

What the command leaves in the background (sh -c 'job &') runs on when it has
ended, without the lock: have the command wait for it.

With a terminal as input, the command has the terminal while rlock is in the
foreground; --no-terminal leaves it to others. If the command is stopped
(Ctrl-Z), rlock says so and stops too, where a shell can continue both (fg).
Meanwhile nothing is renewed: after the lease the lock is lost.

In a pipeline on a terminal (rlock run NAME -- COMMAND | less) the command stays
in the pipeline's process group, which has the terminal together. Ctrl-C and
Ctrl-Z come from the terminal; rlock sends other signals to the command and its
children (without Linux to the command alone). If rlock itself is killed there,
only the command is killed with it (Linux). With --no-terminal the command has a
group of its own there too.

For cron on several machines, whose clocks differ by seconds: a job that takes a
moment would run once on each, one after the other. With --at-least the lock
stays taken after it, so that the others find it taken, and say nothing (-q):

  0 * * * * rlock run -q --wait 0 --at-least 50m nightly -- /usr/local/bin/job

In the command's environment: RLOCK_NAME; RLOCK_OWNER, or the permit's id;
RLOCK_VALID_UNTIL, when the lease ends unless it is renewed (RFC 3339); and
RLOCK_TOKEN, the fencing token (--kind fenced). An rlock run inside the command,
for the same NAME, finds RLOCK_OWNER and enters again instead of waiting for
itself. Several of them at once enter all.

As process 1 of a container, rlock also reaps the processes whose parents have
ended.

Exit status: the command's, 128 and the signal's number if one ended it · 75 not
acquired, or that of -E · 76 lost, or ended before that, while the command ran ·
69 the server can't be reached, or refused · 64 wrong usage · 126, 127 the
command can't be run, or is not there.`,
	}
	c.Flags().DurationVar(&r.wait, "wait", 10*time.Second, "how long to wait for a connection and the lock; 0: one attempt, below 0: without limit")
	c.Flags().DurationVar(&r.lease, "lease", 0, "a fixed lease, which is not renewed; 0: renewed")
	c.Flags().DurationVar(&r.atLeast, "at-least", 0, "the lock stays taken for so long, also after a command that ends before")
	c.Flags().StringVar(&r.kind, "kind", "lock", "lock, fair, fenced, read, write, spin, nonreentrant or permit")
	c.Flags().StringVar(&r.onLost, "on-lost", "term", "term, kill or warn")
	c.Flags().DurationVar(&r.grace, "grace", 5*time.Second, "between SIGTERM and SIGKILL, at most half of the lease")
	c.Flags().BoolVarP(&r.quiet, "quiet", "q", false, "if the lock is not acquired, status 75 without a word")
	c.Flags().IntVarP(&r.conflict, "conflict-exit-code", "E", notAcquired, "the status if the lock is not acquired, as flock's")
	c.Flags().BoolVar(&r.noTerminal, "no-terminal", false, "do not give the terminal to the command")
	c.Flags().DurationVar(&r.watchdog, "watchdog", 30*time.Second, "the lease of a lock that is renewed, each third of it")
	for flag, values := range map[string][]string{"kind": kindNames, "on-lost": onLost} {
		_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	}
	oneName(s, c)
	c.Args = nil
	c.RunE = func(c *cobra.Command, args []string) error {
		if c.ArgsLenAtDash() == 0 && len(args) > 1 && args[1] == "--" {
			args = slices.Delete(args, 1, 2) // the first -- was for a NAME that begins with -
		} else if c.ArgsLenAtDash() != 1 {
			args = nil
		}
		if len(args) < 2 {
			return wrong("it is: rlock run [flags] NAME -- COMMAND [ARGUMENT…]")
		}
		if !slices.Contains(kindNames, r.kind) {
			return wrong("--kind is one of %s", strings.Join(kindNames, ", "))
		}
		if !slices.Contains(onLost, r.onLost) {
			return wrong("--on-lost is one of %s", strings.Join(onLost, ", "))
		}
		if r.kind == "permit" && r.atLeast != 0 {
			return wrong("--at-least is for locks, not for permits")
		}
		if err := r.fits(c.Flags().Changed("grace")); err != nil {
			return err
		}
		if r.conflict < 0 || r.conflict > 255 {
			return wrong("-E is a status from 0 to 255")
		}
		r.name, r.command = args[0], args[1:]
		err := judged(r.run())
		e, ok := errors.AsType[*exit](err)
		conflict := ok && e.status == notAcquired && e.err != nil // not a command that ended so
		if conflict && r.quiet {
			e.err = nil
		} else if ok {
			e.err = r.who(e.err)
		}
		if conflict {
			e.status = r.conflict
		}
		return err
	}
	return c
}

var onLost = []string{"term", "kill", "warn"}

// hold is a Hold or Permits.
type hold interface {
	Context(context.Context) (context.Context, context.CancelFunc)
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
		if !signal.Ignored(s) { // as by nohup
			signal.Notify(r.signals, s)
		}
	}
	environment, release, err := r.acquire()
	if err != nil {
		return err
	}
	defer r.client.Close()
	r.child = exec.Command(path, r.command[1:]...)
	r.child.Args[0] = r.command[0]
	r.child.Stdin, r.child.Stdout, r.child.Stderr = os.Stdin, os.Stdout, os.Stderr
	r.child.Env = append(os.Environ(), environment...)
	r.form()
	err = r.child.Start()
	r.started()
	if err != nil {
		r.takeBack() // the group gets the terminal before the command is run
		r.dismiss()
		_ = release(context.Background()) // if that fails, the lease ends
		return &exit{126, err}
	}
	r.ended = make(chan error, 1)
	go func() { r.ended <- r.child.Wait() }()
	wasLost, result := r.attend()
	r.takeBack()
	err = release(context.Background())
	switch {
	case errors.Is(err, rlock.ErrLeaseLost):
		return &exit{lost, fmt.Errorf("%s was lost while the command ran: others may have had it", visible(r.name))}
	case wasLost:
		return &exit{lost, fmt.Errorf("the command was ended before %s was lost", visible(r.name))}
	case err != nil:
		fmt.Fprintln(os.Stderr, "rlock:", told(err))
	}
	return result
}

// acquire connects and waits for the lock, unless a signal ends the wait.
func (r *run) acquire() ([]string, func(context.Context) error, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var environment []string
	var release func(context.Context) error
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		host, _ := os.Hostname()
		connecting, began := ctx, time.Now()
		if r.wait > 0 {
			var cancel context.CancelFunc
			connecting, cancel = context.WithTimeout(ctx, r.wait)
			defer cancel()
		}
		r.client, err = r.open(connecting,
			rlock.WithWatchdogTimeout(r.lasting()), rlock.WithConnectionName(fmt.Sprintf("%s%s:%d:{id}", runName(r.name), ascii(host), os.Getpid())))
		if err != nil {
			if connecting.Err() != nil && ctx.Err() == nil {
				err = unreachableError(fmt.Errorf("no connection within the %v of --wait: %w", r.wait, err))
			}
			return
		}
		if r.wait > 0 {
			r.wait = max(r.wait-time.Since(began), 0)
		}
		if environment, release, err = r.take(ctx, r.client); err != nil {
			r.client.Close() // undoes what was not answered
		}
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
			given := make(chan struct{})
			go func() {
				defer close(given)
				if <-done; err == nil {
					_ = release(context.Background())
					r.client.Close()
				}
			}()
			select {
			case <-given:
			case <-time.After(time.Second):
				fmt.Fprintf(os.Stderr, "rlock: the server does not answer: %s may yet be acquired, for one lease\n", visible(r.name))
			}
			number, _ := s.(syscall.Signal)
			return nil, nil, &exit{128 + int(number), nil}
		}
	}
}

// fits limits the grace to half of the lease. One that was given is not made shorter.
func (r *run) fits(given bool) error {
	flag, lease := "--watchdog", r.watchdog
	if r.lease != 0 {
		flag, lease = "--lease", r.lease
	}
	longest := max(lease.Truncate(time.Millisecond)/2, 0)
	if given && (r.grace < 0 || r.grace > longest) {
		return wrong("--grace %v does not fit into the lease: at most half of %s, which is %v", r.grace, flag, longest)
	}
	r.grace = min(r.grace, longest)
	return nil
}

// attend passes signals on until the child has ended, and ends the child if the lock is lost or about
// to be.
func (r *run) attend() (wasLost bool, result error) {
	held, cancel := r.hold.Context(context.Background())
	defer cancel()
	over := held.Done()
	var kill <-chan time.Time
	for {
		select {
		case s := <-r.signals:
			r.pass(s)
		case <-over:
			over, wasLost = nil, true
			how, grace := "lost", r.grace
			if r.hold.Err() == nil {
				how, grace = "about to be lost", min(grace, time.Until(r.hold.ValidUntil()))
			}
			fmt.Fprintf(os.Stderr, "rlock: %s is %s: %s\n", visible(r.name), how, told(context.Cause(held)))
			switch r.onLost {
			case "term":
				r.pass(syscall.SIGTERM)
				kill = time.After(grace)
			case "kill":
				r.signal(syscall.SIGKILL)
			}
		case <-kill:
			kill = nil
			r.signal(syscall.SIGKILL)
		case err := <-r.ended:
			r.dismiss()
			if kill != nil {
				r.empty(kill)
			}
			return wasLost, childs(err)
		}
	}
}

// empty waits after a loss until the child's own children have ended too, and kills
// them after the grace.
func (r *run) empty(kill <-chan time.Time) {
	for r.alive() {
		select {
		case s := <-r.signals:
			if ends(s) {
				r.pass(s)
			}
		case <-kill:
			r.signal(syscall.SIGKILL)
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// stops says what happens to the lock while the child is stopped.
func (r *run) stops() {
	fmt.Fprintf(os.Stderr, "rlock: the command is stopped. While rlock is stopped too, %s is not renewed: it is lost in %v unless both go on (fg, or kill -CONT %d)\n",
		visible(r.name), time.Until(r.hold.ValidUntil()).Round(time.Second), os.Getpid())
}

// childs returns the status of the child's end, or nil.
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

// ascii makes a host's name fit for a connection's name.
func ascii(name string) string {
	b := []byte(name)
	for i, c := range b {
		if c <= ' ' || c > '~' {
			b[i] = '_'
		}
	}
	return string(b)
}
