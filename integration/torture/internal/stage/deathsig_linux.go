package stage

import "syscall"

// dieWithParent keeps a frozen worker from outliving a run that was killed.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
