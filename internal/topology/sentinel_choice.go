package topology

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rlock-go/redisson/internal/redisconn"
)

// leftFor is how long a former master is not believed, seenFor how long an older epoch
// is not. A Sentinel learns of a failover within two seconds, and the former master
// takes writes for ten. A Sentinel that says the same after that was set up anew.
const (
	leftFor = 15 * time.Second
	seenFor = time.Minute
)

// choice is what the Sentinels have said of the master so far. It does no I/O and is
// guarded by its owner.
type choice struct {
	master master    // empty: unknown, or just left
	former master    // the one before it; empty: none
	epoch  int64     // of the configuration that was last believed
	seen   time.Time // when it was

	named map[string]named // by each Sentinel's address: the newest epoch that it named

	going time.Time // since when a Sentinel is replacing master; zero: none is

	left      master    // the last master that a Sentinel called replaced
	leftEpoch int64     // of the configuration with it
	leftAt    time.Time // when the first Sentinel said so
	leftBy    []string  // all Sentinels that said so
	toldAt    time.Time // when the last of them did
}

// believes picks the master from what the Sentinels say. The newest configuration
// counts; within one epoch, the server that most Sentinels name. known is how many
// Sentinels there are. An error says why no master is picked.
func (c *choice) believes(said []testimony, known int, now time.Time) (testimony, error) {
	if c.anew(said, now) {
		c.epoch, c.left, c.leftBy = 0, master{}, nil
		c.stale(now)
	}
	c.names(said, now)
	if c.takenBack(said, known) {
		c.left, c.leftBy = master{}, nil
	}
	var newest []testimony // of one epoch
	var old error
	for _, t := range said {
		switch {
		case t.err != nil:
		case c.left.is(t) && t.epoch <= c.leftEpoch && now.Sub(c.leftAt) < leftFor: // another Sentinel has lately called it replaced
			old = errFormer
		case t.epoch < c.epoch && now.Sub(c.seen) < seenFor, now.Sub(c.named[t.from].stale) < seenFor, t.asked.Before(c.named[t.from].anew):
			old = cmp.Or(old, errOlder)
		case len(newest) == 0 || t.epoch > newest[0].epoch:
			newest = append(newest[:0:0], t)
		case t.epoch == newest[0].epoch:
			newest = append(newest, t)
		}
	}
	if len(newest) == 0 {
		return testimony{}, cmp.Or(old, silence(said))
	}
	servers := c.byServer(newest)
	best := slices.MaxFunc(servers, func(a, b []testimony) int { return voices(a) - voices(b) })
	// A Sentinel that is replacing the master may have taken a replica from it already. A new
	// connection would then count too few, and take for acknowledged what the next master lacks.
	// After leftFor an unfinished failover no longer counts.
	switch going := slices.ContainsFunc(best, func(t testimony) bool { return t.going }); {
	case !going:
		c.going = time.Time{}
	case c.going.IsZero():
		c.going = now
		return testimony{}, errGoing
	case now.Sub(c.going) < leftFor:
		return testimony{}, errGoing
	}
	for _, rival := range servers {
		if rival[0].master != best[0].master && voices(rival) == voices(best) {
			return testimony{}, fmt.Errorf("the Sentinels disagree: as many name %s as %s", best[0].master, rival[0].master)
		}
	}
	return c.spelled(best), nil
}

// errGoing is why no connection is made to a master that is there.
var errGoing = errors.New("a Sentinel is replacing the master")

// These are why none of the Sentinels that answered is believed.
var (
	errFormer = errors.New("the Sentinels that answered still name the former master")
	errOlder  = errors.New("the Sentinels that answered have an older configuration than one that was believed")
)

// takenBack tells whether the master was left by mistake, or for a late message. That
// is so if a majority of the known Sentinels, asked since then, names it, with all that
// had called it replaced. In a failover those name the next master, while the others
// name the former one for up to two seconds.
func (c *choice) takenBack(said []testimony, known int) bool {
	var naming []testimony
	for _, t := range said {
		if t.err == nil && c.left.is(t) && t.asked.After(c.toldAt) {
			naming = append(naming, t)
		}
	}
	denies := func(by string) bool {
		return !slices.ContainsFunc(naming, func(t testimony) bool { return t.from == by })
	}
	return len(c.leftBy) > 0 && 2*voices(naming) > known && !slices.ContainsFunc(c.leftBy, denies)
}

// believe takes a testimony over, and returns the master that it replaces, if any.
func (c *choice) believe(t testimony, now time.Time) (former master) {
	names := append([]string{t.master}, t.names...)
	if c.master.addr() == t.master || c.master.run != "" && c.master.run == t.run {
		names = append(names, c.master.names...) // a connection may use one name, and a message another
	} else {
		former = c.master
	}
	if former.names != nil {
		c.former = former
	}
	c.master = master{distinct(names), t.run}
	c.epoch, c.seen = t.epoch, now
	return former
}

// stays returns nil if a majority of that many Sentinels names the master, which answers
// them and has no flag but "master", and none is replacing it or names a newer one. stuck
// says that what it would be replaced by is dead, so that nothing comes of that.
func (c *choice) stays(said []testimony, of int, stuck bool) error {
	var naming []testimony
	for _, t := range said {
		switch {
		case t.err != nil:
		case t.going && !stuck, !c.master.is(t) && t.epoch > c.epoch:
			return errGoing
		case t.clean && c.master.is(t):
			naming = append(naming, t)
		}
	}
	n := voices(naming)
	if 2*n > of {
		return nil
	}
	return fmt.Errorf("%d of %d Sentinels say that it stays", n, of)
}

// leave records that the Sentinel by calls the master at from replaced. It returns that
// master if this is news.
func (c *choice) leave(by, from string, now time.Time) (former master) {
	if slices.Contains(c.master.names, from) {
		former, c.master = c.master, master{}
		c.former, c.left, c.leftEpoch, c.leftAt, c.leftBy = former, former, c.epoch, now, nil
	}
	if slices.Contains(c.left.names, from) {
		c.toldAt = now
		if !slices.Contains(c.leftBy, by) {
			c.leftBy = append(c.leftBy, by)
		}
	}
	return former
}

// silence is the error if no Sentinel names a master. It is permanent if every Sentinel
// has a permanent error, or does not know the master's name.
func silence(said []testimony) error {
	all := &silenceError{what: "no Sentinel names the master", passes: len(said) == 0}
	for _, t := range said {
		all.errs = append(all.errs, t.err)
		if !redisconn.Permanent(t.err) && !errors.Is(t.err, errUnknownMaster) {
			all.passes = true
		}
	}
	return all
}

type silenceError struct {
	what   string
	errs   []error // one for each that was asked
	passes bool    // asking again may help
}

// Error lists what each of them said.
func (e *silenceError) Error() string {
	texts := make([]string, len(e.errs))
	for i, err := range e.errs {
		texts[i] = err.Error()
	}
	return e.what + ": " + strings.Join(texts, "; ")
}

// Unwrap returns the error of each.
func (e *silenceError) Unwrap() []error { return e.errs }

// Permanent is for redisconn.Permanent.
func (e *silenceError) Permanent() bool { return !e.passes }
