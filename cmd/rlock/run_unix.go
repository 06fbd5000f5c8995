//go:build unix

package main

import (
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
	first, err := unix.IoctlGetInt(0, unix.TIOCGPGRP)
	if r.foreign = in && out && err == nil && first == unix.Getpgrp(); r.foreign {
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

func (r *run) takeBack() {
	if r.foreign {
		_ = unix.IoctlSetPointerInt(0, unix.TIOCSPGRP, unix.Getpgrp()) // it may be gone
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
	if r.foreign {
		_ = unix.IoctlSetPointerInt(0, unix.TIOCSPGRP, r.child.Process.Pid)
	}
	r.signal(syscall.SIGCONT)
}

// signal sends to the child's group. It may have ended.
func (r *run) signal(s syscall.Signal) { _ = syscall.Kill(-r.child.Process.Pid, s) }

// alive tells whether any of the group lives.
func (r *run) alive() bool { return syscall.Kill(-r.child.Process.Pid, 0) == nil }

// terminal tells whether a file is one, and how many rows it has.
func terminal(f *os.File) (rows int, is bool) {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, false
	}
	return max(int(size.Row), 10), true
}
