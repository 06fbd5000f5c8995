//go:build !linux

package deathsig

import "syscall"

// Attr is nil: this system has no such signal.
func Attr(syscall.Signal) *syscall.SysProcAttr { return nil }
