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
	loneBlock = 32

	// loneTurns is how many such blocks each way has in a trial, in turns: what else
	// the machine does is to meet all alike.
	loneTurns = 4

	// loneTrialEvery is in how many commands one trial is made: 31 of 32 go the
	// quickest way.
	loneTrialEvery = 32 * loneTurns * int(ways) * loneBlock

	// The machine is busy with other things from when loneDisturbed of loneWindow
	// commands took loneGap, until fewer did loneCalm times. Measured on two cores: 0
	// to 2 commands when idle; beside two processes that spin mostly more than ten, or
	// next to none while those share a core.
	loneWindow    = 2048
	loneDisturbed = 8
	loneCalm      = 8
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
	decided int // commands until the next trial; 0: it is under way
	busy    int // windows until the machine counts as calm; 0: it does

	// Of the present window.
	commands int
	slow     int // that took loneGap

	// Of the trial.
	sent  int // commands of the present block
	turns int // that all ways have had
	total [ways]time.Duration
}

// took follows each command but a caller's first with the time since the one before,
// loneGap at the most.
func (c *loneChoice) took(d time.Duration) {
	if d >= loneGap {
		c.slow++
	}
	if c.commands++; c.commands == loneWindow {
		c.look()
	}
	switch {
	case c.busy > 0:
	case c.decided == 0:
		c.try(d)
	case c.decided == 1:
		*c = loneChoice{commands: c.commands, slow: c.slow}
	default:
		c.decided--
	}
}

// look ends a window. A calm machine after a busy one is tried anew.
func (c *loneChoice) look() {
	disturbed := c.slow >= loneDisturbed
	c.commands, c.slow = 0, 0
	switch {
	case disturbed:
		*c = loneChoice{way: callerSleeps, busy: loneCalm}
	case c.busy == 1:
		*c = loneChoice{}
	case c.busy > 0:
		c.busy--
	}
}

// try follows each command of a trial, and has the next go the way that it is to go.
func (c *loneChoice) try(d time.Duration) {
	if c.sent > 0 { // the first has the change of ways in it
		c.total[c.way] += d
	}
	if c.sent++; c.sent <= loneBlock {
		return
	}
	c.sent = 0
	if c.way++; c.way < ways {
		return
	}
	c.way = readerSleeps
	if c.turns++; c.turns == loneTurns {
		c.way = c.quickest()
		c.decided = loneTrialEvery - loneTurns*int(ways)*(loneBlock+1)
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
