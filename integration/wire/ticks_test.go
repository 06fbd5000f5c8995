package wire

import (
	"maps"
	"slices"
	"strings"
)

// maxRenew is how many locks a renewal has at most, on both sides.
const maxRenew = 100

// tick is a renewal taken apart, since each client has its own order for its locks.
type tick struct {
	lease string
	locks map[string]string // by name and owner: the answer and the calls
}

// tick is nil if the event has not the shape of a renewal: an answer for each lock, and each lock's calls in the order of
// KEYS.
func (n *normaliser) tick(e event) *tick {
	replies, ok := e.reply.([]any)
	if !ok || len(replies) != len(e.keys) || len(e.keys) > maxRenew {
		return nil
	}
	t := &tick{lease: e.argv[0], locks: map[string]string{}}
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
	s.head, s.inside, s.reply = "EVALSHA renew, lease "+t.lease, nil, "shown with each lock"
	for _, lock := range slices.Sorted(maps.Keys(t.locks)) {
		s.inside = append(s.inside, lock+": "+t.locks[lock])
	}
}

// mergeTicks joins renewals that follow each other and tell nothing new: how often the watchdog comes, and which of many
// locks share a script, is no part of the contract. A renewal that asks for a lock again after it was told that it is
// lost, or is told something else than before, stays.
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
	if t.lease != later.lease {
		return false
	}
	for lock, told := range later.locks {
		if before, known := t.locks[lock]; known && (before != told || strings.HasPrefix(told, "int 0")) {
			return false
		}
	}
	return true
}
