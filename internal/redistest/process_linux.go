package redistest

import "syscall"

// dieWithParent makes the system kill the server when the test binary is
// killed before it could clean up.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
