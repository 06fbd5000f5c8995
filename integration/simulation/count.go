package simulation

// count is what a number on the server may be: the permits that are free, or a latch's count.
// Each change moves it; one with an uncertain outcome widens it.
type count struct {
	known     bool // it was set, and the server has kept it
	low, high int64
}

func (c *count) set(n int64) { *c = count{true, n, n} }

// lost is called when the server lost its data, or a replica may lack some.
func (c *count) lost() { c.known = false }

// add records a change that was made.
func (c *count) add(n int64) {
	c.low += n
	c.high += n
}

// may records a change that may have been made, or may yet be.
func (c *count) may(n int64) {
	if n < 0 {
		c.low += n
	} else {
		c.high += n
	}
}
