//go:build !linux

package deathsig

import "syscall"

// Attr is nil where the system has nothing of the kind.
func Attr(syscall.Signal) *syscall.SysProcAttr { return nil }
