// Package rlockotel gives OpenTelemetry what rlock's clients do, as metrics and spans.
//
//	observer, err := rlockotel.New()
//	client, err := rlock.Open(ctx, url, rlock.WithObserver(observer))
//
// There is no convention for distributed locks, so attributes have a prefix of their own:
// rlock.kind is on all, rlock.name only by [WithName]. All times are in seconds.
//
//	rlock.acquire.duration       rlock.outcome, rlock.contended
//	rlock.hold.duration          rlock.end
//	rlock.holds, rlock.waiters
//	rlock.renewals               rlock.outcome
//	rlock.leases.lost            rlock.reason
//	rlock.wakeups                rlock.source
//	rlock.undos                  rlock.outcome
//	rlock.lease.remaining.min
//	db.client.operation.duration db.system.name, db.operation.name, db.operation.batch.size (leases of a
//	                             renewal), db.response.status_code, error.type, server.address, server.port
//
// The words are those of rlock's events. A call that acquires is a span rlock.acquire with
// the events wait and woken, one of Unlock is rlock.release with the event lost; commands are
// client spans below them. The span of the caller's context is the parent. Commands of
// renewals are spans only by [WithRenewalSpans]. The status of a span that failed has the error's
// text, which names the lock. Neither query texts nor baggage are used.
package rlockotel
