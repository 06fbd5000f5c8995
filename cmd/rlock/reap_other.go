//go:build unix && !linux

package main

import "syscall"

// reap does nothing: here containers have another first process.
func (r *run) reap() {}

// adoptOrphans does nothing: here a process can't become the parent of others.
func adoptOrphans() {}

// members returns the child alone, if it lives: here its children can't be told from others.
func (r *run) members() []int {
	if r.child.Process.Signal(syscall.Signal(0)) != nil {
		return nil
	}
	return []int{r.child.Process.Pid}
}
