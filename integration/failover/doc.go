// Command failover takes masters away from locks in use, and counts what their holders saw.
//
//	go run ./failover            one round of each kind
//	go run ./failover -full      all rounds; with -write the table goes into docs/dev/topologies.md
//
// Behind Sentinels and in a cluster, masters are killed, silenced, replaced as planned, and cut off from all but their
// clients; slots move with a thousand locks that are held and waited for; a shard stands still. Meanwhile locks are held,
// waited for, and passed from hand to hand by two clients.
//
// What is held against the library is what a [hold] said: from the moment at which Lock returned it until the last at
// which its Err was nil, nobody else may have been inside (overlaps in ledger.go). Asynchronous replication can't keep
// that for every hold. So the gates before the servers read what WAIT answered for each acquire and each renewal
// (gate.Witness). Two inside at once where all of them had been acknowledged by as many replicas as were asked is a violation;
// elsewhere it is counted. So are the holds that were told as lost. A hold that says neither yes nor no, valid for itself
// and not on the master, is a violation too.
package main
