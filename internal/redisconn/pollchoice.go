package redisconn

import "time"

const (
	// trialReads is how many reads of each sort are compared.
	trialReads = 32

	// trialEvery is in how many reads one trial is made, so that the worse way is
	// taken in one of 64.
	trialEvery = 64 * trialReads

	// trialMost bounds what one read counts: the machine may stand still.
	trialMost = time.Millisecond
)

// pollChoice tells whether it pays to poll for replies. On two idle cores it is
// quicker than sleeping. Where other processes want the cores it uses up the share
// of its own, so that the kernel takes the core away when the reply is there;
// and a server that sleeps on another core is woken late. A far server is
// polled for in vain. None of this can be known, so both are tried: some
// reads polled for, as many slept for, and then the quicker way until the next
// trial. Polling has to be quicker by an eighth, since it takes processor time.
type pollChoice struct {
	decided int  // reads until the next trial
	pays    bool // polling does, by the last one

	// Of the trial.
	reads  int
	polled time.Duration
	slept  time.Duration
}

// poll tells whether the next read of a trial is to be polled for.
func (c *pollChoice) poll() bool { return c.reads < trialReads }

// took follows each read of a trial with the time that it took.
func (c *pollChoice) took(d time.Duration) {
	d = min(d, trialMost)
	switch c.reads++; {
	case c.reads <= trialReads:
		c.polled += d
	case c.reads < 2*trialReads:
		c.slept += d
	default:
		pays := c.polled < (c.slept+d)*7/8
		*c = pollChoice{pays: pays, decided: trialEvery - 2*trialReads}
	}
}
