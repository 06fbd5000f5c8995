//go:build unix

package leakcheck

import (
	"os"
	"syscall"
)

var heeded = []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGUSR1, syscall.SIGUSR2}
