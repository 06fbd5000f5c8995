package topology

import (
	"context"
	"slices"
)

// stays asks the Sentinels whether the master is in its place, and those that it
// has lost whether they are masters. See pipeline.Node.
func (t *Sentinel) stays(ctx context.Context, gone []string) error {
	return stays(ctx, t.u.Target, gone, func(ctx context.Context) error {
		said := t.askAll(ctx)
		t.mu.Lock()
		defer t.mu.Unlock()
		return t.choice.stays(said, existing(said, len(t.sentinels)))
	})
}

// existing is how many Sentinels there are by those that answer: they, and whom they
// know, each once, by its id or its address. One of the URL of which none of them knows
// was replaced. Where one may not say whom it knows, as many count as are known here.
func existing(said []testimony, known int) int {
	var all []sentinelAddr
	for _, one := range said {
		if one.err != nil {
			continue
		}
		if one.lonely {
			return known
		}
		for _, m := range append([]sentinelAddr{{one.from, one.id}}, one.others...) {
			if !slices.ContainsFunc(all, m.same) {
				all = append(all, m)
			}
		}
	}
	return len(all)
}

// first are the replicas that the first master of a client is taken to have: those that
// are not down. If all are, and most Sentinels are silent, they count: they may be where
// the other Sentinels are, and one of them the next master. A client that was there
// before waits for them too. It is called with mu held.
func (t *Sentinel) first(best testimony, said []testimony) []string {
	answer := 0
	for _, one := range said {
		if one.err == nil {
			answer++
		}
	}
	if len(best.known) == 0 && 2*answer <= existing(said, len(t.sentinels)) {
		return best.down
	}
	return append([]string{}, best.known...)
}

// replicas are those that the Sentinels knew of the first master.
func (t *Sentinel) replicas() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.known
}
