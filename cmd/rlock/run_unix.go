//go:build unix

package main

import (
	"cmp"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/rlock-go/redisson/internal/deathsig"
)

// passedOn are the signals that the child gets in our place. SIGCHLD and SIGCONT are
// for us: the child may have been stopped, and we continued.
var passedOn = []os.Signal{
	syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGTSTP, syscall.SIGCHLD, syscall.SIGCONT,
}

// ends tells whether a signal ends a wait.
func ends(s os.Signal) bool {
	return s == syscall.SIGHUP || s == syscall.SIGINT || s == syscall.SIGQUIT || s == syscall.SIGTERM
}

// pause stops us where that is what a signal wants: so a wait is not stopped by itself.
func pause(s os.Signal) {
	if s == syscall.SIGTSTP {
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	}
}

// group is the child's process group.
type group struct {
	id      int
	guard   *exec.Cmd // ends the group if we are killed; nil: there is no shell for it
	alarm   *os.File  // which tells the guard, as it closes with us
	foreign bool      // the group was given the terminal
	asked   bool      // we got the latest signal to stop
}

// guards is what the guard runs: it is there once it has written a line, and has nothing
// to read until our end of the pipe closes.
const guards = `trap "" HUP INT QUIT TERM USR1 USR2 TSTP TTIN TTOU; echo; read -r _; kill -KILL 0`

// post starts the guard, as the first of the group.
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
	_, _ = out.Read(make([]byte, 1)) // it ignores signals now
}

// dismiss ends the guard.
func (g *group) dismiss() {
	if g.guard != nil {
		_ = g.guard.Process.Kill()
		_ = g.guard.Wait()
		g.alarm.Close()
	}
}

// form has the child be of a process group that ends with this process. It gets the
// terminal if that is our input and we have it.
func (r *run) form() {
	r.post()
	attr := deathsig.Attr(syscall.SIGKILL)
	if attr == nil {
		attr = &syscall.SysProcAttr{}
	}
	attr.Setpgid, attr.Pgid = true, r.id
	_, in := terminal(os.Stdin)
	has, err := unix.IoctlGetInt(0, unix.TIOCGPGRP)
	if r.foreign = in && err == nil && has == unix.Getpgrp() && !r.noTerminal; r.foreign {
		attr.Foreground, attr.Ctty = true, 0
	}
	r.child.SysProcAttr = attr
}

// started is called once the child runs: what we ignore before, it would ignore.
func (r *run) started() {
	if r.id == 0 {
		r.id = r.child.Process.Pid
	}
	if r.foreign {
		signal.Ignore(syscall.SIGTTOU) // which we get for taking the terminal back
	}
}

// takeBack takes the terminal from the child, which has it unless the shell took it:
// then this job is in the background.
func (r *run) takeBack() { r.give(r.id, unix.Getpgrp()) }

// give hands the terminal from one process group to another.
func (r *run) give(from, to int) {
	if !r.foreign {
		return
	}
	if has, err := unix.IoctlGetInt(0, unix.TIOCGPGRP); err == nil && has == from {
		_ = unix.IoctlSetPointerInt(0, unix.TIOCSPGRP, to) // it may be gone
	}
}

// pass passes a signal on. When the child was stopped at a terminal, our group stops too,
// as by Ctrl-Z; the system leaves us running where there is no shell to continue us.
// Elsewhere we stop if we were asked to.
func (r *run) pass(s os.Signal) {
	switch {
	case s == syscall.SIGCHLD:
		if !r.halted && stopped(r.child.Process.Pid) {
			r.halted = true
			r.takeBack()
			r.stops()
			// Of the signals that stop, this one is not for the child: nobody handles it.
			if _, in := terminal(os.Stdin); in {
				_ = syscall.Kill(0, syscall.SIGTTIN)
			} else if r.asked {
				_ = syscall.Kill(os.Getpid(), syscall.SIGTTIN)
			}
		}
	case s == syscall.SIGCONT:
		r.asked = false
		r.goOn()
	default:
		r.asked = s == syscall.SIGTSTP
		r.signal(s.(syscall.Signal))
		if ends(s) {
			r.goOn() // else it would not notice
		}
	}
}

// goOn continues the child, which may have stopped without our having seen it yet.
func (r *run) goOn() {
	if r.halted {
		r.halted = false
		r.give(unix.Getpgrp(), r.id)
	}
	r.signal(syscall.SIGCONT)
}

// signal sends to the child's group. It may have ended.
func (r *run) signal(s syscall.Signal) { _ = syscall.Kill(-r.id, s) }

// alive tells whether any of the group lives.
func (r *run) alive() bool { return syscall.Kill(-r.id, 0) == nil }

// terminal tells whether a file is one, and how large it is. One that does not know
// has 80 columns.
func terminal(f *os.File) (size screenSize, is bool) {
	s, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return screenSize{}, false
	}
	return screenSize{max(int(s.Row), 10), cmp.Or(int(s.Col), 80)}, true
}
