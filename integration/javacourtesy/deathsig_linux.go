package main

import "syscall"

// dieWithParent has the system end a child whose parent was killed.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
