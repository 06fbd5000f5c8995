package clock

import "sync/atomic"

// override replaces System in a simulation, whose clients' clocks run fast or slow.
var override atomic.Pointer[func() Clock]

// Override makes f the System of the clients that are opened from now on. With
// nil they get the machine's clock again. It is for simulations, in a process
// that does nothing else.
func Override(f func() Clock) {
	if f == nil {
		override.Store(nil)
		return
	}
	override.Store(&f)
}

// overridden returns the clock of a simulation, or nil.
func overridden() Clock {
	if f := override.Load(); f != nil {
		return (*f)()
	}
	return nil
}
