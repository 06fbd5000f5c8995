package wire

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// maxRenew is the most locks of one renewal: Redisson's number, which is greater than Go's.
const maxRenew = 100

// tick is a renewal taken apart, since clients order its locks differently.
type tick struct {
	verb   string
	single bool // not of a batch: the answer is a number
	lease  string
	locks  map[string]string // by name and owner: the answer and the calls

	sent, answered time.Time
}

// atOnce is the time after a reply within which a tick is of the same moment. Redisson may have several timers for its
// ticks, left behind by earlier locks, and one may tick before another has handled its reply. The next tick that is due
// comes a third of the watchdog's timeout later.
const atOnce = 200 * time.Millisecond

// tick returns nil if the event does not have the shape of a renewal: a reply for each lock, and each lock's calls in the
// order of KEYS.
func (n *normaliser) tick(e event) *tick {
	replies, batch := e.reply.([]any)
	if _, number := e.reply.(int64); number && len(e.keys) == 1 {
		replies = []any{e.reply}
	}
	if len(replies) != len(e.keys) || len(e.keys) > maxRenew {
		return nil
	}
	t := &tick{verb: strings.ToUpper(e.words[0]), single: !batch, lease: e.argv[0], locks: map[string]string{}, sent: e.sent, answered: e.answered}
	calls := e.inside
	for i, key := range e.keys {
		told := n.value(replies[i])
		for len(calls) > 0 && len(calls[0]) > 1 && calls[0][1] == key {
			told += " after " + n.inner(calls[0])
			calls = calls[1:]
		}
		t.locks[n.word(key)+" of "+n.word(e.argv[1+i])] = told
	}
	if len(calls) > 0 || len(t.locks) != len(e.keys) {
		return nil
	}
	return t
}

func (t *tick) show(s *step) {
	s.script = nil
	s.head, s.inside, s.reply = t.verb+" renew, lease "+t.lease, nil, "shown with each lock"
	if t.single {
		s.head += ", one lock at a time"
	}
	for _, lock := range slices.Sorted(maps.Keys(t.locks)) {
		s.inside = append(s.inside, lock+": "+t.locks[lock])
	}
}

// mergeTicks merges consecutive renewals that show nothing new: how often the watchdog ticks, and which of many locks share
// a script, is no part of the contract. A renewal stays if it has a lock again that was reported lost, or if a lock's reply
// has changed.
func mergeTicks(steps []step) []step {
	var out []step
	for _, s := range steps {
		if s.tick == nil {
			out = append(out, s)
			continue
		}
		if len(out) > 0 && out[len(out)-1].tick != nil && out[len(out)-1].tick.takes(s.tick) {
			last := &out[len(out)-1]
			maps.Copy(last.tick.locks, s.tick.locks)
			last.tick.show(last)
			continue
		}
		s.tick.show(&s)
		out = append(out, s)
	}
	return out
}

func (t *tick) takes(later *tick) bool {
	if t.lease != later.lease || t.single != later.single || t.verb != later.verb {
		return false
	}
	for lock, told := range later.locks {
		lost := strings.HasPrefix(told, "int 0")
		if before, known := t.locks[lock]; known && (before != told || lost && later.sent.Sub(t.answered) > atOnce) {
			return false
		}
	}
	return true
}
