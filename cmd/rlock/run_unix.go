//go:build unix

package main

import (
	"cmp"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/rlock-go/redisson/internal/testkit/deathsig"
)

// passedOn are the signals that rlock passes to the child. SIGCHLD and SIGCONT are for
// rlock itself: they say that the child was stopped, and that rlock was continued.
var passedOn = []os.Signal{
	syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGTSTP, syscall.SIGCHLD, syscall.SIGCONT,
}

// ends reports whether a signal ends a wait.
func ends(s os.Signal) bool {
	return s == syscall.SIGHUP || s == syscall.SIGINT || s == syscall.SIGQUIT || s == syscall.SIGTERM
}

// pause stops rlock if the signal asks for that. A caught signal does not stop a wait by itself.
func pause(s os.Signal) {
	if s == syscall.SIGTSTP {
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	}
}

// group is the child's process group.
type group struct {
	id      int
	guard   *exec.Cmd // kills the group if rlock is killed; nil without a shell
	alarm   *os.File  // closes when rlock ends, which the guard sees
	foreign bool      // the group got the terminal
	asked   bool      // the latest signal to rlock was one to stop
	piped   bool      // the child is in rlock's own group, with the rest of a shell's pipeline
	tty     int       // that group's terminal, for as long as rlock runs
}

// guards is the guard's script. The guard is ready when it has written a line; then it
// reads until rlock's end of the pipe closes.
const guards = `trap "" HUP INT QUIT TERM USR1 USR2 TSTP TTIN TTOU; echo; read -r _; kill -KILL 0`

// post starts the guard, the first process of the group.
func (g *group) post() {
	in, alarm, err := os.Pipe()
	if err != nil {
		return
	}
	defer in.Close()
	guard := exec.Command("/bin/sh", "-c", guards, "rlock-guard")
	guard.Stdin = in
	guard.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := guard.StdoutPipe()
	if err != nil || guard.Start() != nil {
		alarm.Close()
		return
	}
	g.guard, g.alarm, g.id = guard, alarm, guard.Process.Pid
	_, _ = out.Read(make([]byte, 1)) // after this line it ignores signals
}

// dismiss ends the guard.
func (g *group) dismiss() {
	if g.guard != nil {
		_ = g.guard.Process.Kill()
		_ = g.guard.Wait()
		g.alarm.Close()
	}
}

// form puts the child into a process group that ends with this process. The group gets
// the terminal if that is rlock's input and rlock has it. In a pipeline the child stays in
// rlock's group: the terminal has one group, and what is behind or before the pipe, such as a
// pager, needs it too.
func (r *run) form() {
	attr := deathsig.Attr(syscall.SIGKILL)
	if attr == nil {
		attr = &syscall.SysProcAttr{}
	}
	if r.child.SysProcAttr = attr; r.pipeline() {
		adoptOrphans()
		return
	}
	r.post()
	attr.Setpgid, attr.Pgid = true, r.id
	_, in := terminal(os.Stdin)
	has, err := unix.IoctlGetInt(0, unix.TIOCGPGRP)
	if r.foreign = in && err == nil && has == unix.Getpgrp() && !r.noTerminal; r.foreign {
		attr.Foreground, attr.Ctty = true, 0
	}
}

// pipeline notes whether rlock is a part of a pipeline that has a terminal.
func (r *run) pipeline() bool {
	through := func(f *os.File) bool {
		i, err := f.Stat()
		return err == nil && i.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) != 0 // some shells use sockets
	}
	if r.noTerminal || !through(os.Stdin) && !through(os.Stdout) {
		return false
	}
	tty, err := unix.Open("/dev/tty", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	r.piped, r.tty = err == nil, tty
	return r.piped
}

// typed reports whether a signal is for the whole pipeline, as by Ctrl-C: the child got it from the
// terminal too. It can't be told from one that another process sends to rlock alone meanwhile.
func (r *run) typed(s os.Signal) bool {
	if !r.piped || s != syscall.SIGINT && s != syscall.SIGQUIT && s != syscall.SIGTSTP {
		return false
	}
	has, err := unix.IoctlGetInt(r.tty, unix.TIOCGPGRP)
	return err == nil && has == unix.Getpgrp()
}

// started is called once the child runs, or can't be run. Signals that rlock ignores before, the
// child would ignore too.
func (r *run) started() {
	if r.id == 0 && r.child.Process != nil {
		r.id = r.child.Process.Pid
	}
	if r.foreign {
		signal.Ignore(syscall.SIGTTOU) // rlock gets it when it takes the terminal back
	}
}

// takeBack takes the terminal from the child. If the shell has it, this job is in the
// background, and the shell keeps it.
func (r *run) takeBack() { r.give(r.id, unix.Getpgrp()) }

// give hands the terminal from one process group to another.
func (r *run) give(from, to int) {
	if !r.foreign {
		return
	}
	if has, err := unix.IoctlGetInt(0, unix.TIOCGPGRP); err == nil && has == from {
		_ = unix.IoctlSetPointerInt(0, unix.TIOCSPGRP, to) // the group may be gone
	}
}

// pass passes a signal on. When the child was stopped at a terminal, rlock's group stops
// too, as by Ctrl-Z; the system leaves it running if there is no shell to continue it.
// Without a terminal rlock stops if it got a signal to stop.
func (r *run) pass(s os.Signal) {
	switch {
	case s == syscall.SIGCHLD:
		r.reap()
		if !r.halted && stopped(r.child.Process.Pid) {
			r.halted = true
			r.takeBack()
			r.stops()
			// Not by SIGTSTP, which rlock catches and passes to the child. A pipeline's others were
			// stopped by the terminal, and may have work to do before they stop.
			if _, in := terminal(os.Stdin); in && !r.piped {
				_ = syscall.Kill(0, syscall.SIGTTIN)
			} else if r.asked || r.piped {
				_ = syscall.Kill(os.Getpid(), syscall.SIGTTIN)
			}
		}
	case s == syscall.SIGCONT:
		r.asked = false
		r.goOn()
	case r.typed(s):
	default:
		r.asked = s == syscall.SIGTSTP
		r.signal(s.(syscall.Signal))
		if ends(s) {
			r.goOn() // a stopped child would not notice the signal
		}
	}
}

// goOn continues the child, even if it has stopped and rlock has not seen that yet.
func (r *run) goOn() {
	if r.halted {
		r.halted = false
		r.give(unix.Getpgrp(), r.id)
	}
	r.signal(syscall.SIGCONT)
}

// signal sends to the child's group, which may have ended. In a pipeline that is the child and its
// children, which may fork while they are ended.
func (r *run) signal(s syscall.Signal) {
	if !r.piped {
		_ = syscall.Kill(-r.id, s)
		return
	}
	sent := map[int]bool{}
	for again := true; again; {
		again = false
		for _, pid := range r.members() {
			if !sent[pid] {
				sent[pid], again = true, s == syscall.SIGKILL
				_ = syscall.Kill(pid, s)
			}
		}
	}
}

// alive reports whether any process of the group lives.
func (r *run) alive() bool {
	r.reap() // a zombie would count
	if r.piped {
		return len(r.members()) > 0
	}
	return syscall.Kill(-r.id, 0) == nil
}

// terminal reports whether a file is a terminal, and its size: 80 columns if it does not know.
func terminal(f *os.File) (size screenSize, is bool) {
	s, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return screenSize{}, false
	}
	return screenSize{max(int(s.Row), 10), cmp.Or(int(s.Col), 80)}, true
}
