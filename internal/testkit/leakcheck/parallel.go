package leakcheck

import (
	"fmt"
	"os"
	"runtime"
)

// parallel returns how many parallel tests of a package run at a time: fewer on a busy machine, whose stalls let short
// leases end.
func parallel() string {
	text, err := os.ReadFile("/proc/loadavg")
	var load float64
	if _, scanned := fmt.Sscan(string(text), &load); err == nil && scanned == nil && load < 3*float64(runtime.NumCPU()) {
		return quiet
	}
	return "12"
}
