//go:build !linux

package stage

import "syscall"

func dieWithParent() *syscall.SysProcAttr { return nil }
