package topology

import (
	"cmp"
	"slices"
	"sync"
)

// maxRanges is how many ranges of slots a change may list. With more it covers all
// slots: needless looks cost less than remembering each range.
const maxRanges = 1024

// Feed is a channel of changes whose sender never blocks. The zero value is not
// ready; see NewFeed.
type Feed struct {
	mu     sync.Mutex // held to send and to close
	ch     chan []Change
	closed bool
}

// NewFeed makes a feed.
func NewFeed() *Feed { return &Feed{ch: make(chan []Change, 1)} }

// Changes returns the channel for Topology.Changes.
func (f *Feed) Changes() <-chan []Change { return f.ch }

// Tell sends a change, merged with those that were not received yet: changes between the same
// two nodes become one. On a closed feed it does nothing.
func (f *Feed) Tell(c Change) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return
	}
	var told []Change
	select {
	case told = <-f.ch:
	default:
	}
	if i := slices.IndexFunc(told, func(t Change) bool { return t.From == c.From && t.To == c.To }); i < 0 {
		told = append(told, c)
	} else {
		t := &told[i]
		t.NewMaster = t.NewMaster || c.NewMaster
		t.FormerAddr, t.Addr = cmp.Or(t.FormerAddr, c.FormerAddr), cmp.Or(c.Addr, t.Addr)
		for _, r := range c.Slots {
			if !slices.ContainsFunc(t.Slots, func(has Range) bool { return has.First <= r.First && r.Last <= has.Last }) {
				t.Slots = append(t.Slots[:len(t.Slots):len(t.Slots)], r)
			}
		}
		if len(t.Slots) > maxRanges {
			t.Slots = AllSlots
		}
	}
	f.ch <- told // there is room: only this function sends
}

// Close ends the feed.
func (f *Feed) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.closed {
		f.closed = true
		close(f.ch)
	}
}
