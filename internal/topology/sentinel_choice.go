package topology

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rlock-go/redisson/internal/redisconn"
)

// What is told of a master that was left, and of an epoch that was seen, is
// remembered for so long. A Sentinel learns of a failover within two seconds,
// and the former master takes writes for ten. One that says the same after all
// this time has been set up anew.
const (
	leftFor = 15 * time.Second
	seenFor = time.Minute
)

// choice is what is known of the master beside what is asked. It does no I/O and
// is guarded by its owner.
type choice struct {
	master master    // none: nobody knows, or it was just left
	epoch  int64     // of the newest configuration that was believed
	seen   time.Time // when a Sentinel last said that

	going time.Time // when a Sentinel was first met that leads a failover from there; zero: none does

	left      master    // a Sentinel told that this is not the master any more
	leftEpoch int64     // of the configuration that had it
	leftAt    time.Time // when the first one told
	leftBy    []string  // all that did
	toldAt    time.Time // when the last one did
}

// believes finds the master in what the Sentinels say. The newest configuration
// counts, and among those of one age what most of them say. known is how many
// Sentinels there are. An error says why there is none.
func (c *choice) believes(said []testimony, known int, now time.Time) (testimony, error) {
	if c.takenBack(said, known) {
		c.left, c.leftBy = master{}, nil
	}
	var newest []testimony // of one epoch
	old := false
	for _, t := range said {
		switch {
		case t.err != nil:
		case c.outdated(t, now):
			old = true
		case len(newest) == 0 || t.epoch > newest[0].epoch:
			newest = append(newest[:0:0], t)
		case t.epoch == newest[0].epoch:
			newest = append(newest, t)
		}
	}
	if len(newest) == 0 {
		if old {
			return testimony{}, errFormer
		}
		return testimony{}, silence(said)
	}
	servers := c.byServer(newest)
	best := slices.MaxFunc(servers, func(a, b []testimony) int { return len(a) - len(b) })
	if c.replaced(slices.ContainsFunc(best, func(t testimony) bool { return t.going }), now) {
		return testimony{}, errGoing
	}
	for _, rival := range servers {
		if rival[0].master != best[0].master && len(rival) == len(best) {
			return testimony{}, fmt.Errorf("the Sentinels disagree: as many name %s as %s", best[0].master, rival[0].master)
		}
	}
	return c.spelled(best), nil
}

// replaced tells that the master is being left. One of its replicas may have
// left it by then, so that a new connection would count fewer than there are,
// and take for acknowledged what the next master has not. A Sentinel that does
// not get on with it is believed again after a while.
func (c *choice) replaced(going bool, now time.Time) bool {
	switch {
	case !going:
		c.going = time.Time{}
	case c.going.IsZero():
		c.going = now
	}
	return going && now.Sub(c.going) < leftFor
}

// errGoing is why no master is connected to while there is one.
var errGoing = errors.New("a Sentinel is replacing the master")

// errFormer is why the Sentinels that answered are not believed.
var errFormer = errors.New("the Sentinels that answered still name the former master")

// outdated tells that a newer configuration is known, or that another Sentinel
// has told that the one t names is not the master any more.
func (c *choice) outdated(t testimony, now time.Time) bool {
	return t.epoch < c.epoch && now.Sub(c.seen) < seenFor ||
		c.left.is(t) && t.epoch <= c.leftEpoch && now.Sub(c.leftAt) < leftFor
}

// takenBack tells that the master was left by mistake, or by a message that was
// late: most of all Sentinels that are known name it, asked since, and among them
// each that told. In a failover whoever told names the next one, while the others
// name the former for up to two seconds.
func (c *choice) takenBack(said []testimony, known int) bool {
	var naming []string
	for _, t := range said {
		if t.err == nil && c.left.is(t) && t.asked.After(c.toldAt) {
			naming = append(naming, t.from)
		}
	}
	denies := func(by string) bool { return !slices.Contains(naming, by) }
	return len(c.leftBy) > 0 && 2*len(naming) > known && !slices.ContainsFunc(c.leftBy, denies)
}

// believe takes a testimony over, and reports which master it replaces, if any.
func (c *choice) believe(t testimony, now time.Time) (former master) {
	names := append([]string{t.master}, t.names...)
	if c.master.addr() == t.master || c.master.run != "" && c.master.run == t.run {
		names = append(names, c.master.names...) // it may be connected to by one, and left by another
	} else {
		former = c.master
	}
	c.master = master{distinct(names), t.run}
	c.epoch, c.seen = t.epoch, now
	return former
}

// stays is nil if most of that many Sentinels name the master without a mark, and none
// replaces it or names a newer one.
func (c *choice) stays(said []testimony, of int) error {
	n := 0
	for _, t := range said {
		switch {
		case t.err != nil:
		case t.going, !c.master.is(t) && t.epoch > c.epoch:
			return errGoing
		case t.clean && c.master.is(t):
			n++
		}
	}
	if 2*n > of {
		return nil
	}
	return fmt.Errorf("%d of %d Sentinels say that it stays", n, of)
}

// leave takes the word of a Sentinel, by, that from is not the master any more. It
// reports which master that is, if it is news.
func (c *choice) leave(by, from string, now time.Time) (former master) {
	if slices.Contains(c.master.names, from) {
		former, c.master = c.master, master{}
		c.left, c.leftEpoch, c.leftAt, c.leftBy = former, c.epoch, now, nil
	}
	if slices.Contains(c.left.names, from) {
		c.toldAt = now
		if !slices.Contains(c.leftBy, by) {
			c.leftBy = append(c.leftBy, by)
		}
	}
	return former
}

// silence is the error of Sentinels of whom none says anything of use. It is for
// good if it is for each of them.
func silence(said []testimony) error {
	all := &silenceError{passes: len(said) == 0}
	for _, t := range said {
		all.errs = append(all.errs, t.err)
		if !redisconn.Permanent(t.err) && !errors.Is(t.err, errUnknownMaster) {
			all.passes = true
		}
	}
	return all
}

type silenceError struct {
	errs   []error // one of each Sentinel
	passes bool    // asking again may help
}

// Error has what each Sentinel said.
func (e *silenceError) Error() string {
	texts := make([]string, len(e.errs))
	for i, err := range e.errs {
		texts[i] = err.Error()
	}
	return "no Sentinel names the master: " + strings.Join(texts, "; ")
}

// Unwrap gives what each said.
func (e *silenceError) Unwrap() []error { return e.errs }

// Permanent is for redisconn.Permanent.
func (e *silenceError) Permanent() bool { return !e.passes }
