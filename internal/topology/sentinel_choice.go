package topology

import (
	"errors"
	"fmt"
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
	master string    // host:port; empty: nobody knows, or it was just left
	epoch  int64     // of the newest configuration that was believed
	seen   time.Time // when a Sentinel last said that

	going time.Time // when a Sentinel was first met that leads a failover from there; zero: none does

	left      string // a Sentinel told that this is not the master any more
	leftEpoch int64  // of the configuration that had it
	leftAt    time.Time
}

// believes finds the master in what the Sentinels say. The newest configuration
// counts, and among those of one age what most of them say. An error says why
// there is none.
func (c *choice) believes(said []testimony, now time.Time) (testimony, error) {
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
	votes := map[string]int{}
	for _, t := range newest {
		votes[t.master]++
	}
	best, going := newest[0], false
	for _, t := range newest {
		if votes[t.master] > votes[best.master] {
			best = t
		}
	}
	for _, t := range newest {
		going = going || t.going && t.master == best.master
	}
	if c.replaced(going, now) {
		return testimony{}, errGoing
	}
	for rival, n := range votes {
		if rival != best.master && n == votes[best.master] {
			return testimony{}, fmt.Errorf("the Sentinels disagree: as many name %s as %s", best.master, rival)
		}
	}
	return best, nil
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
		t.master == c.left && t.epoch <= c.leftEpoch && now.Sub(c.leftAt) < leftFor
}

// believe takes a testimony over, and reports which master it replaces; empty:
// none.
func (c *choice) believe(t testimony, now time.Time) (former string) {
	if c.master != t.master {
		former = c.master
	}
	c.master, c.epoch, c.seen = t.master, t.epoch, now
	return former
}

// leave takes the word of a Sentinel that from is not the master any more. It
// reports whether that is news.
func (c *choice) leave(from string, now time.Time) bool {
	if c.master != from {
		return false
	}
	c.left, c.leftEpoch, c.leftAt = from, c.epoch, now
	c.master = ""
	return true
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
