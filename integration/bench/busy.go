package main

import (
	"bufio"
	"os"
	"sync/atomic"
)

// busyRole is a child that only spins, as other work on the machine does.
const busyRole = "spin"

// startBusy has so many processes spin until the returned function is called.
func startBusy(n int) (end func(), err error) {
	var all []*child
	end = func() {
		for _, c := range all {
			c.close()
		}
	}
	for range n {
		c, err := startChild(busyRole, "", "", "")
		if err != nil {
			end()
			return nil, err
		}
		all = append(all, c)
	}
	return end, nil
}

// busyMain spins until its standard input ends.
func busyMain() {
	var ended atomic.Bool
	go func() {
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		}
		ended.Store(true)
	}()
	for !ended.Load() {
	}
}
