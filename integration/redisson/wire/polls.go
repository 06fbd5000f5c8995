package wire

import (
	"fmt"
	"strings"
	"time"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
)

// The pauses of a spin lock's waiter between its tries. The middle of the n-th doubles from the first to the longest. How
// much of it is left to chance is each client's own affair, up to a factor of two: Redisson's pauses are between the middle
// and its double, Go's between half of the middle and it.
const (
	firstPause   = time.Millisecond
	longestPause = 128 * time.Millisecond
	// onTheWay is what a try needs, on a machine with more to do.
	onTheWay = 50 * time.Millisecond
	// aboutToEnd is how long before a lease's end a try is not too early: a Go client whose own hold ends looks then, and
	// it counts a lease shorter by 1%.
	aboutToEnd = 20 * time.Millisecond
)

// severalPolls are as many refusals as it takes to see pauses double.
const severalPolls = 6

// pauseDue is between which times the pause behind refusal n lies, from 0 on.
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

// poller is a waiter that was refused so many times.
type poller struct {
	step     int // where the first of its equal refusals is
	refusals int
	last     step
	handed   bool // an unlock came since, or is on its way: of a Go client the waiter takes over in its write
}

// mergePolls joins the tries of each waiter that are refused alike, since how many there are is a matter of time. A waiter
// that polled is told from one that did not. A pause that is not as it is due is shown; if it is longer, late is true, since
// that may be the machine's doing.
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
			// Of an unlock whose script had to be loaded, it is in front.
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

// pause tells what is wrong with the one before a waiter's next try, if anything is, and whether it is too long. One
// try at an unlock may come at once.
func (p *poller) pause(next step) (odd []string, long bool) {
	least, most := pauseDue(p.refusals - 1)
	took := next.sent.Sub(p.last.answered)
	short := took < least && took < p.last.left-aboutToEnd && !p.handed
	if long = took > most+onTheWay; long || short {
		odd = []string{fmt.Sprintf("%v after refusal %d, where %v to %v are due", took, p.refusals, least, most)}
	}
	return odd, long
}
