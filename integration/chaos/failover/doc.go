// Command failover takes masters and replicas away from locks in use, and counts what their holders saw.
//
//	go run ./chaos/failover            one round of each kind, with Redis's own delay before a replica is fed
//	go run ./chaos/failover -full      all rounds of all rows; with -write the table goes into docs/dev/tables/failover.md
//	go run ./chaos/failover -only Sentinel:        the kinds with these words
//	go run ./chaos/failover -kinds     all kinds of locks over failovers, just after a replica came; matrix.go has the rows
//	go run ./chaos/failover -beside    replicas that come and go, beside Redisson in the same seconds
//
// Behind Sentinels and in a cluster, masters are killed, silenced, replaced as planned, by force and by a takeover, and cut
// off from all but their clients; slots move with a thousand locks that are held and waited for; a shard stands still;
// replicas go for longer than a lease, and come back. Meanwhile locks are held, waited for, released one after the other, and
// passed from hand to hand, by two clients that wait for replicas and by two that do not. row.go has the rows: each kind with
// the delays of repl-diskless-sync-delay that count for it. A replica that waits to be fed is connected, and acknowledges nothing.
//
// A round lasts until each lock was entered again at the master that stays, and all replicas are fed. It fails if a standing
// hold was lost, or if nobody could enter a lock that was released for a lease. Where a cluster's master is cut off, unlocks
// without WAIT whose owner others may use are not counted: they are not sent again.
//
// What is held against the library is what a [hold] said: from the moment at which Lock returned it until the last at
// which its Err was nil, nobody else may have been inside (overlaps in load.go). Asynchronous replication can't keep
// that for every hold. So the gates before the servers read what WAIT answered for each acquire and each renewal
// (gate.Witness). Two inside at once where all of them had been acknowledged by as many replicas as were asked is a violation;
// elsewhere it is counted. A hold that says neither yes nor no, valid for itself and not on the master, is a violation too.
package main
