//go:build !unix

package main

import (
	"os"
	"syscall"
)

var passedOn = []os.Signal{os.Interrupt}

func ends(os.Signal) bool { return true }

func pause(os.Signal) {}

// group is empty: without process groups rlock ends only the child itself.
type group struct{}

func (r *run) form()                   {}
func (r *run) dismiss()                {}
func (r *run) started()                {}
func (r *run) takeBack()               {}
func (r *run) pass(os.Signal)          { _ = r.child.Process.Kill() }
func (r *run) signal(s syscall.Signal) { _ = r.child.Process.Kill() }
func (r *run) alive() bool             { return false }

func terminal(*os.File) (screenSize, bool) { return screenSize{}, false }
