package wire

import (
	"fmt"
	"strings"
	"time"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
)

// The pauses of a spin lock's waiter between its tries. The middle of the n-th doubles from the first to the longest.
// Clients may vary it by up to a factor of two: Redisson's pauses are between the middle and its double, Go's between half
// of the middle and the middle.
const (
	firstPause   = time.Millisecond
	longestPause = 128 * time.Millisecond
	// onTheWay is what a try may need on a busy machine.
	onTheWay = 50 * time.Millisecond
	// aboutToEnd is how long before a lease's end a try is not too early: a Go client tries when its own hold ends, and it
	// counts on 1% less of a lease.
	aboutToEnd = 20 * time.Millisecond
)

// severalPolls is the number of refusals that it takes to see pauses double.
const severalPolls = 6

// pauseDue returns the bounds of the pause after refusal n, counted from 0.
func pauseDue(n int) (least, most time.Duration) {
	middle := min(firstPause<<min(n, 16), longestPause)
	return max(middle/2, firstPause), min(middle*2, longestPause)
}

// polls counts the refusals so far.
func polls(all []faultproxy.Exchange, name string) (n int) {
	for _, e := range all {
		if refusal(e, name) {
			n++
		}
	}
	return n
}

// poller is a waiter that was refused.
type poller struct {
	step     int // the index of the first of its equal refusals
	refusals int
	last     step
	handed   bool // an unlock came since, or is on its way: a Go client's waiter tries in the same write
}

// mergePolls merges the tries of each waiter that are refused alike, since their number depends on timing. A waiter that
// polled still differs from one that did not. A pause out of its bounds is shown; if it is too long, late is true, since
// the machine may be the cause.
func mergePolls(steps []step) (out []step, late bool) {
	waiting := map[string]*poller{}
	for i, s := range steps {
		who := s.name + " for " + s.owner
		if s.role == "unlock" {
			for _, p := range waiting {
				p.handed = p.handed || p.last.name == s.name
			}
		}
		p := waiting[who]
		refused := s.role == "lock" && strings.HasPrefix(s.reply, "int ")
		if p != nil && s.role == "lock" {
			// The try comes before an unlock whose script had to be loaded.
			if i+1 < len(steps) && steps[i+1].role == "unlock" && steps[i+1].name == s.name {
				p.handed = true
			}
			odd, long := p.pause(s)
			late = late || long
			s.inside = append(s.inside, odd...)
		}
		switch {
		case !refused:
			if s.role == "lock" {
				delete(waiting, who)
			}
		case p == nil:
			waiting[who] = &poller{step: len(out), refusals: 1, last: s}
		default:
			p.refusals++
			p.last, p.handed = s, false
			s.inside = append(s.inside, "again after pauses that double")
			if same(out[p.step], s) {
				continue
			}
			p.step = len(out)
		}
		out = append(out, s)
	}
	return out, late
}

// pause returns what is wrong with the pause before a waiter's next try, if anything, and whether it is too long. One try
// at an unlock may come at once.
func (p *poller) pause(next step) (odd []string, long bool) {
	least, most := pauseDue(p.refusals - 1)
	took := next.sent.Sub(p.last.answered)
	short := took < least && took < p.last.left-aboutToEnd && !p.handed
	if long = took > most+onTheWay; long || short {
		odd = []string{fmt.Sprintf("%v after refusal %d, where %v to %v are due", took, p.refusals, least, most)}
	}
	return odd, long
}
