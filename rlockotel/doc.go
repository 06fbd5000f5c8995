// Package rlockotel gives OpenTelemetry what rlock's clients do, as metrics and spans.
//
//	observer, err := rlockotel.New()
//	client, err := rlock.Open(ctx, url, rlock.WithObserver(observer))
//
// There is no convention for distributed locks, so attributes have a prefix of their own:
// rlock.kind is on nearly all, rlock.name on spans, and on metrics by [WithName]. All times
// are in seconds.
//
//	rlock.acquires               rlock.outcome, rlock.contended
//	rlock.acquire.duration       rlock.contended (of those that acquired)
//	rlock.hold.duration          rlock.end
//	rlock.holds, rlock.waiters
//	rlock.renewals               rlock.outcome
//	rlock.leases.lost            rlock.reason
//	rlock.wakeups                rlock.source
//	rlock.undos                  rlock.outcome
//	rlock.lease.remaining.min
//	rlock.releases.uncertain
//	rlock.reconnects, rlock.unobserved.events (without rlock.kind)
//	db.client.operation.duration db.system.name, db.namespace (the database's number),
//	                             db.operation.name, db.stored_procedure.name (the script),
//	                             rlock.undo (true: it takes back an acquire whose reply was lost),
//	                             db.operation.batch.size (leases of a renewal), db.response.status_code,
//	                             error.type, server.address, server.port
//
// The words are those of rlock's events. A call that acquires is a span rlock.acquire with
// the events wait and woken, one of Unlock is rlock.release with the event lost; commands are
// client spans below them, such as "EVALSHA lock" and "EVALSHA unlock". The span of the
// caller's context is the parent. Commands that no call waits for, such as "EVALSHA renew"
// and "EVALSHA unlock, undo", are spans only by [WithRenewalSpans]. The status of a span that
// failed has the error's text, which names the lock. Neither query texts nor baggage are used.
package rlockotel
