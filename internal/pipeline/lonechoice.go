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
)

// loneChoice finds the quickest way for a lone caller. To wake a goroutine costs as
// much as the server takes, or little; whoever polls has the processor when the reply
// is there, or keeps the server from it; with a core to spare, two goroutines may be
// quicker than one. None of this can be known, so all ways are tried, and the time is
// taken from one command to the next. Polling has to be quicker by an eighth, since it
// takes processor time.
type loneChoice struct {
	way     way
	decided int // commands until the next trial; 0: it is under way

	// Of the trial.
	sent  int // commands of the present block
	turns int // that all ways have had
	total [ways]time.Duration
}

// took follows each command but a caller's first with the time since the one before.
func (c *loneChoice) took(d time.Duration) {
	if c.decided > 0 {
		if c.decided--; c.decided == 0 {
			*c = loneChoice{}
		}
		return
	}
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
