package main

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
)

// choice says which locks ls shows, and in which order.
type choice struct{ holder, kind, sort string }

// shownKinds are the kinds that ls can tell apart.
var shownKinds = []string{plain, fair, fenced, readWrite, permits, semaphore, latch, number}

// orders compare two locks. Equal ones stay sorted by name.
var orders = map[string]func(a, b *state) int{
	"name":    func(a, b *state) int { return 0 },
	"ttl":     func(a, b *state) int { return cmp.Compare(a.ends(), b.ends()) },
	"holds":   func(a, b *state) int { return cmp.Compare(b.holdCount(), a.holdCount()) },
	"waiting": func(a, b *state) int { return cmp.Compare(b.waiting(), a.waiting()) },
}

func (c choice) valid() error {
	if c.kind != "" && !slices.Contains(shownKinds, c.kind) {
		return wrong("--kind is one of %s", strings.Join(shownKinds, ", "))
	}
	if orders[c.sort] == nil {
		return wrong("--sort is one of %s", strings.Join(slices.Sorted(maps.Keys(orders)), ", "))
	}
	return nil
}

// of returns the chosen ones of all locks, which are sorted by name.
func (c choice) of(all []*state) []*state {
	all = slices.DeleteFunc(all, func(s *state) bool {
		return c.kind != "" && s.Kind != c.kind ||
			c.holder != "" && !(s.KeptBy != "" && strings.HasPrefix(s.KeptBy, c.holder)) && !slices.ContainsFunc(s.Holders, func(h holder) bool { return strings.HasPrefix(h.Owner, c.holder) })
	})
	slices.SortStableFunc(all, orders[c.sort])
	return all
}

// ends returns in how many ms the lock or the first of its permits ends.
func (s *state) ends() int64 {
	first := int64(math.MaxInt64)
	if s.TTL != nil && *s.TTL >= 0 {
		first = *s.TTL
	}
	for _, h := range s.Holders {
		if h.Expiry != nil {
			first = min(first, *h.Expiry)
		}
	}
	return first
}

// holdCount returns the number of holds of all owners.
func (s *state) holdCount() int64 {
	n := s.More
	for _, h := range s.Holders {
		n += h.Count
	}
	return n
}
