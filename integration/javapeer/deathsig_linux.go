package javapeer

import "syscall"

// dieWithParent: a paused JVM would not notice that its pipe ended with the test
// process.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
