package deathsig

import "syscall"

// Attr makes the system send sig to a child when the thread that started it
// ends. It is for exec.Cmd.SysProcAttr.
func Attr(sig syscall.Signal) *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: sig} }
