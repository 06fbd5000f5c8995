package leakcheck

import (
	"fmt"
	"os"
	"runtime"
)

// parallel is how many tests of a package run at a time that allow it: more where the machine has little else to do, since
// short leases end while a busy one stands still.
func parallel() string {
	text, err := os.ReadFile("/proc/loadavg")
	var load float64
	if _, scanned := fmt.Sscan(string(text), &load); err == nil && scanned == nil && load < 3*float64(runtime.NumCPU()) {
		return quiet
	}
	return "12"
}
