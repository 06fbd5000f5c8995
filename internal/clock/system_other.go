//go:build !linux

package clock

// System is Go's monotonic clock: this system offers no clock that counts
// suspend through x/sys.
func System() Clock { return Monotonic() }
