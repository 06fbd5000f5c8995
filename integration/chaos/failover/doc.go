// Command failover makes masters and replicas fail while locks are in use, and counts what the holders saw.
//
//	go run ./chaos/failover            one round of each kind, with Redis's own delay before a replica is fed
//	go run ./chaos/failover -full      all rounds of all rows; with -write the table goes into docs/dev/tables/failover.md
//	go run ./chaos/failover -only Sentinel:        the kinds with these words
//	go run ./chaos/failover -kinds     all kinds of locks over failovers, just after a replica came; matrix.go has the rows
//	go run ./chaos/failover -beside    replicas that come and go, with Redisson on the same servers at the same time
//
// Behind Sentinels and in a cluster, masters are killed, silenced, replaced as planned, by force and by a takeover, and cut
// off from all but their clients; slots move with a thousand locks that are held and waited for; a shard is paused; replicas
// are down for longer than a lease and come back. Meanwhile two clients that wait for replicas, and two that do not, hold
// locks, wait for them, contend for them, and release them one after the other. row.go has the rows: each kind with the
// values of repl-diskless-sync-delay that matter for it. A replica that waits to be fed is connected but acknowledges nothing.
//
// A round lasts until each lock was entered again at the master that stays, and all replicas are fed. It fails if a standing
// hold was lost, or if nobody could enter a released lock for a lease. An unlock whose owner others may use is not counted if
// it is not sent again: without WAIT after a sudden fault (see round.go), or when its latch has expired.
//
// The library is judged by what a hold reported: from the return of Lock until the last moment at which Err was nil, nobody
// else may have been inside (overlaps in load.go). Asynchronous replication can't keep that promise for every hold. So the
// gates before the servers read the replies to WAIT for each acquire and each renewal (gate.Witness). Two owners inside at
// once are a violation if all replicas that were asked had acknowledged both; otherwise they are only counted. A hold that
// reports itself as valid but is not on the master is a violation too.
package main
