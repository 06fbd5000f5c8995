package topology

import "context"

// stays asks the Sentinels whether the master is in its place, and those that it
// has lost whether they are masters. See pipeline.Options.Stays.
func (t *Sentinel) stays(ctx context.Context, gone []string) bool {
	ctx, cancel := context.WithTimeout(ctx, lossTimeout)
	defer cancel()
	anyPromoted := promoted(ctx, t.u.Target, gone)
	t.mu.Lock()
	of := len(t.sentinels)
	t.mu.Unlock()
	said := t.askAll(ctx)
	if anyPromoted() {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.choice.stays(said, of)
}

// replicas are those that the Sentinels knew of the first master.
func (t *Sentinel) replicas() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.known
}
