package simulation

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

// mildly is how long all has to be well, apart from connections that break, before each call has its plain result.
const mildly = 16 * time.Second

// harsh reports whether a kind of fault does worse than to break connections.
func (k FaultKind) harsh() bool { return k != Breaks && k != Resets && k != NoScript }

// mild reports whether nothing worse has happened since then than connections that broke. A slot may stay half moved for long.
func (p *play) mild(since time.Time) bool {
	c, is := p.site.(*cluster)
	return !p.noKill && !p.noID && p.promotions == 0 && since.After(p.harshUntil) && !(is && c.Moving())
}

// foreign are calls that act for an owner which others may act for too, or that take the lock from any. They are not sent again.
var foreign = []string{"shared Lock", "shared Unlock", "UnlockAs", "ForceUnlock"}

// waitsOn is how long behind a refusal a wait may end in an outage: the refusal was lost. One that goes on for longer outlives outages.
const waitsOn = oneTimeout + 500*time.Millisecond

// mayMeetAnother reports whether a repetition of a count-down may find a latch that was set since it was first sent, by the client's
// clock, which runs fast by up to 0.9 %, and in whole ms. Other numbers stay while nothing worse happens than broken connections.
func (c *call) mayMeetAnother() bool {
	return c.what == "CountDown" && c.o.flipped.After(c.began.Add(-time.Since(c.began)/100-time.Millisecond))
}

// judgeAnswered judges a call that ended without the outcome of its command.
func (p *play) judgeAnswered(c *call, err error) {
	if c.l == nil || c.l.closed || !errors.Is(err, rlock.ErrUnavailable) && !errors.Is(err, rlock.ErrUncertain) {
		return
	}
	if errors.Is(err, rlock.ErrUncertain) && c.what != "Extend" && p.wrote[c.host].Before(c.began) && !p.noID {
		p.breach("untrue: %s of %s says that it may have run, and nothing was sent since it began: %v", c.what, c.who, err)
	}
	plain := !strings.HasPrefix(c.what, "multi") && !slices.Contains(foreign, c.what) && !strings.Contains(c.what, "For") && c.o.excused[c.as] == "" && (c.until.IsZero() || time.Now().Before(c.until))
	over := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
	switch {
	case !p.mild(c.began) || !plain || over:
	case errors.Is(err, rlock.ErrUncertain) && c.mayMeetAnother():
		p.allow(madeAnew)
	default:
		p.breach("answer: %s of %s got %v, and nothing worse than broken connections has happened since it began", c.what, c.who, err)
	}
	if errors.Is(err, rlock.ErrUnavailable) && !over && !c.refusedAt.IsZero() && time.Since(c.refusedAt) > waitsOn {
		p.breach("waits: %s of %s was refused %v before, and ends with %v", c.what, c.who, time.Since(c.refusedAt), err)
	}
}
