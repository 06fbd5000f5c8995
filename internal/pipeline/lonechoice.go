package pipeline

import "time"

// way is how the reply to a command is waited for.
type way uint32

const (
	readerSleeps way = iota
	readerPolls
	callerSleeps
	callerPolls

	ways               // so many are compared
	readerTries = ways // there is no lone caller: the connection finds out whether polling pays
)

// callers tells whether the caller reads.
func (w way) callers() bool { return w == callerSleeps || w == callerPolls }

const (
	// loneBlock is how many commands in a row go one way in a trial.
	loneBlock = 128

	// loneTurns is how many such blocks each way has in a trial, in turns: what else
	// the machine does is to meet all alike.
	loneTurns = 4

	// loneWindow is how many commands a trial has. One of loneTrialEvery such windows
	// is a trial, the others go the quickest way.
	loneWindow     = loneTurns * int(ways) * (loneBlock + 1)
	loneTrialEvery = 32

	// loneDisturbed is how many commands of a window take loneGap where the machine is
	// busy with other things. Measured on two cores: 0 to 2 when idle, mostly above 19
	// with two processes that spin.
	loneDisturbed = 8
)

// loneChoice finds the quickest way for a lone caller. To wake a goroutine costs as
// much as the server takes, or little; whoever polls has the processor when the reply
// is there, or keeps the server from it; with a core to spare, two goroutines may be
// quicker than one. None of this can be known, so all ways are tried, and the time is
// taken from one command to the next. Polling has to be quicker by an eighth, since it
// takes processor time.
//
// On a busy machine that time says little: most of it is others', and who has polled
// pays for it later, by waiting for the processor. There the caller reads, asleep, which
// takes the least.
type loneChoice struct {
	way     way
	windows int // until the next trial; 0: it is under way

	// Of the present window.
	commands int
	slow     int // commands that took loneGap

	// Of the trial.
	sent  int // commands of the present block
	total [ways]time.Duration
}

// took follows each command but a caller's first with the time since the one before,
// loneGap at the most.
func (c *loneChoice) took(d time.Duration) {
	if d >= loneGap {
		c.slow++
	}
	trial := c.windows == 0
	if trial {
		c.try(d)
	}
	if c.commands++; c.commands < loneWindow {
		return
	}
	if trial {
		c.way, c.windows = c.quickest(), loneTrialEvery
	}
	if c.slow >= loneDisturbed {
		c.way = callerSleeps
	}
	c.commands, c.slow = 0, 0
	if c.windows--; c.windows == 0 {
		*c = loneChoice{}
	}
}

// try follows each command of a trial, and has the next go the way that it is to go.
func (c *loneChoice) try(d time.Duration) {
	if c.sent > 0 { // the first has the change of ways in it
		c.total[c.way] += d
	}
	if c.sent++; c.sent > loneBlock {
		c.sent = 0
		c.way = (c.way + 1) % ways
	}
}

// quickest is the way that took the least time in the trial.
func (c *loneChoice) quickest() way {
	best, least := readerSleeps, c.total[readerSleeps]
	for w, total := range c.total {
		if way(w) == readerPolls || way(w) == callerPolls {
			total = total * 8 / 7
		}
		if total < least {
			best, least = way(w), total
		}
	}
	return best
}
