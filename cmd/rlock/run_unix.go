//go:build unix

package main

import (
	"cmp"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/rlock-go/redisson/internal/deathsig"
)

// passedOn are the signals that the child gets in our place. SIGCHLD is for us: it may
// have been stopped.
var passedOn = []os.Signal{
	syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGTSTP, syscall.SIGCHLD,
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

// group has the child be the first of a process group, which ends with this
// process. It gets the terminal if that is its input and output: then nobody
// else, such as a pager, needs it.
func (r *run) group() {
	attr := deathsig.Attr(syscall.SIGKILL)
	if attr == nil {
		attr = &syscall.SysProcAttr{}
	}
	attr.Setpgid = true
	_, in := terminal(os.Stdin)
	_, out := terminal(os.Stdout)
	has, err := unix.IoctlGetInt(0, unix.TIOCGPGRP)
	if r.foreign = in && out && err == nil && has == unix.Getpgrp(); r.foreign {
		attr.Foreground, attr.Ctty = true, 0
	}
	r.child.SysProcAttr = attr
}

// started is called once the child runs: what we ignore before, it would ignore.
func (r *run) started() {
	if r.foreign {
		signal.Ignore(syscall.SIGTTOU) // which we get for taking the terminal back
	}
}

// takeBack takes the terminal from the child, which has it unless the shell took it:
// then this job is in the background.
func (r *run) takeBack() { r.give(r.child.Process.Pid, unix.Getpgrp()) }

// give hands the terminal from one process group to another.
func (r *run) give(from, to int) {
	if !r.foreign {
		return
	}
	if has, err := unix.IoctlGetInt(0, unix.TIOCGPGRP); err == nil && has == from {
		_ = unix.IoctlSetPointerInt(0, unix.TIOCSPGRP, to) // it may be gone
	}
}

// pass passes a signal on. When the child was stopped, we stop too, and go on together.
func (r *run) pass(s os.Signal) {
	if s != syscall.SIGCHLD {
		r.signal(s.(syscall.Signal))
		return
	}
	if !stopped(r.child.Process.Pid) {
		return
	}
	r.takeBack()
	_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	r.give(unix.Getpgrp(), r.child.Process.Pid)
	r.signal(syscall.SIGCONT)
}

// signal sends to the child's group. It may have ended.
func (r *run) signal(s syscall.Signal) { _ = syscall.Kill(-r.child.Process.Pid, s) }

// alive tells whether any of the group lives.
func (r *run) alive() bool { return syscall.Kill(-r.child.Process.Pid, 0) == nil }

// terminal tells whether a file is one, and how large it is. One that does not know
// has 80 columns.
func terminal(f *os.File) (size screenSize, is bool) {
	s, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return screenSize{}, false
	}
	return screenSize{max(int(s.Row), 10), cmp.Or(int(s.Col), 80)}, true
}
