package topology

import "context"

// stays asks the Sentinels whether the master is in its place, and those that it
// has lost whether they are masters. See pipeline.Options.Stays.
func (t *Sentinel) stays(ctx context.Context, gone []string) bool {
	return stays(ctx, t.u.Target, gone, func(ctx context.Context) bool {
		said := t.askAll(ctx)
		t.mu.Lock()
		defer t.mu.Unlock()
		return t.choice.stays(said, len(t.sentinels))
	})
}

// replicas are those that the Sentinels knew of the first master.
func (t *Sentinel) replicas() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.known
}
