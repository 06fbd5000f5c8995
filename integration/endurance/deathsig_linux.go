package main

import "syscall"

// dieWithParent keeps a child from outliving a run that was killed.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
