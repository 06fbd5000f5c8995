//go:build !linux

package javapeer

import "syscall"

func dieWithParent() *syscall.SysProcAttr { return nil }
