package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// adopts reports whether rlock becomes the parent of processes whose parents have ended.
func adopts() bool {
	var is int32
	err := unix.Prctl(unix.PR_GET_CHILD_SUBREAPER, uintptr(unsafe.Pointer(&is)), 0, 0, 0)
	return os.Getpid() == 1 || err == nil && is != 0
}

// adoptOrphans makes rlock the parent of the processes below it whose parents have ended, so that members finds them.
func adoptOrphans() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// reap collects the ended processes that rlock has adopted, which would stay zombies. It leaves those that
// rlock has started, because others wait for them.
func (r *run) reap() {
	if !adopts() {
		return
	}
	for pid, p := range processes() {
		if p.state == "Z" && p.parent == os.Getpid() && pid != r.child.Process.Pid && (r.guard == nil || pid != r.guard.Process.Pid) {
			_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
		}
	}
}

// members returns the living processes of rlock's group that the child is or has started.
func (r *run) members() (all []int) {
	every := processes()
	for pid, p := range every {
		above := p.parent
		for range every { // parents are read one after another, and may seem to go round
			if above == os.Getpid() || above == 0 {
				break
			}
			above = every[above].parent
		}
		if above == os.Getpid() && p.group == unix.Getpgrp() && p.state != "Z" && p.state != "X" {
			all = append(all, pid)
		}
	}
	return all
}

// process is what the system says of a process.
type process struct {
	state         string
	parent, group int
}

// processes returns the system's processes by their ids.
func processes() map[int]process {
	all := map[int]process{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, stat := range stats {
		text, _ := os.ReadFile(stat) // the process may be gone
		_, after, _ := strings.Cut(string(text), ") ")
		if fields := strings.Fields(after); len(fields) > 2 {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(stat)))
			p := process{state: fields[0]}
			p.parent, _ = strconv.Atoi(fields[1])
			p.group, _ = strconv.Atoi(fields[2])
			all[pid] = p
		}
	}
	return all
}
