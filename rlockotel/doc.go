// Package rlockotel exports to OpenTelemetry what rlock's clients do, as metrics and spans.
//
//	observer, err := rlockotel.New()
//	client, err := rlock.Open(ctx, url, rlock.WithObserver(observer))
//
// OpenTelemetry has no convention for distributed locks, so attributes have the prefix rlock.
// Nearly all metrics and spans of locks have rlock.kind. Spans have rlock.name, metrics only
// with [WithName]. All times are in seconds. Nobody holds a latch or the permits of a
// Semaphore, so these kinds have no holds, leases and releases.
//
//	rlock.acquires               rlock.outcome, rlock.contended
//	rlock.acquire.duration       rlock.contended (of those that acquired)
//	rlock.hold.duration          rlock.end
//	rlock.holds, rlock.waiters
//	rlock.renewals               rlock.outcome
//	rlock.leases.failing         rlock.change (begun, ended)
//	rlock.leases.lost            rlock.reason
//	rlock.wakeups                rlock.source
//	rlock.undos                  rlock.outcome
//	rlock.lease.remaining.min
//	rlock.oldest.hold, rlock.oldest.wait (the age of the oldest, if there is one)
//	rlock.releases.uncertain
//	rlock.reconnects, rlock.unobserved.events (without rlock.kind)
//	db.client.operation.duration db.system.name, db.namespace (the database's number),
//	                             db.operation.name, db.stored_procedure.name (the script),
//	                             rlock.undo (true: it takes back an acquire whose reply was lost),
//	                             db.operation.batch.size (leases of a renewal), db.response.status_code,
//	                             error.type, server.address, server.port
//
// The values are the words of rlock's events. A call that acquires is a span rlock.acquire
// with the events wait and woken. A call of Unlock is a span rlock.release with the event
// lost. Commands are client spans below them, such as "EVALSHA lock" and "EVALSHA unlock".
// The span of the caller's context is the parent. Commands that no call waits for, such as
// "EVALSHA renew" and "EVALSHA unlock, undo", are spans only with [WithRenewalSpans]. The
// status of a span that failed has the error's text, which names the lock. There are no query
// texts and no baggage.
package rlockotel
