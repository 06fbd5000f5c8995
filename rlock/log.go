package rlock

import "log/slog"

// journal writes what an operator would want to have seen. Without a logger
// it costs nothing.
type journal struct{ l *slog.Logger }

func (j journal) undoFailed(lock string, o Owner, err error) {
	if j.l != nil {
		j.l.Warn("an acquire that was never answered could not be undone; its key may stay until its lease ends", "lock", lock, "owner", o.String(), "error", err)
	}
}

func (j journal) undecided(lock string, o Owner, why string) {
	if j.l != nil {
		j.l.Warn("the outcome of a re-entry could not be found out", "lock", lock, "owner", o.String(), "reason", why)
	}
}

func (j journal) giveBackFailed(lock string, o Owner, err error) {
	if j.l != nil {
		j.l.Warn("a grant that nobody wanted any more could not be given back; its key may stay until its lease ends", "lock", lock, "owner", o.String(), "error", err)
	}
}

func (j journal) renewalFailed(leases int, err error) {
	if j.l != nil {
		j.l.Warn("leases could not be renewed; it is tried again while trust lasts", "leases", leases, "error", err)
	}
}

// lostLease reports holds that ended before they were released.
func (c *Client) lostLease(t *tenure, holds int, cause error) {
	if j := c.log; j.l != nil {
		j.l.Warn("lease lost", "lock", t.n.l.name, "owner", t.field, "holds", holds, "cause", cause)
	}
}
