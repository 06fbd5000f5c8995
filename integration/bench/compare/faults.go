package main

import (
	"cmp"
	"time"
)

// fault is one row.
type fault struct {
	name   string
	by     string // how it is made
	does   func(*stage)
	beside int           // how many of its rounds run at once: many, alone or few
	lease  time.Duration // of all parties; 0: short
	needs  promise       // what a party must promise to do better than it does; empty: nothing
	// untried says why a party is not tried; nil or empty: it is tried.
	untried func(p *party) string
}

func faults() []fault {
	all := []fault{
		{name: "reply to an acquire lost, connection cut", by: "proxy: executed, then cut", does: acquiring(cutAfter, 0)},
		{name: "reply to an acquire lost in silence", by: "proxy: executed, then nothing", does: acquiring(dropReply, 0)},
		{name: "acquire lost", by: "proxy: cut before", does: acquiring(cutBefore, 0)},
		{name: "reply to an acquire late", by: "proxy: executed, the reply after 1.5 s", does: acquiring(holdReply, 3*patience/2)},
		{name: "reply to an unlock lost, connection cut", by: "proxy: executed, then cut", does: unlockReplyLost},
		{name: "holder killed", by: "SIGKILL", does: holderKilled},
		{name: "holder paused", by: "SIGSTOP for one and a half leases, SIGCONT", needs: notice, does: holderPaused},
		{name: "key deleted", by: "server: DEL", needs: notice, does: keyDeleted(young)},
		{name: "lock forced", by: "the library's own way", needs: notice, does: lockForced, untried: noForce},
		{name: "key taken by another", by: "server: DEL; another caller's lock", needs: notice, does: keyTaken(young)},
		{name: "server restarted empty", by: "server: SIGKILL, started again", needs: notice, does: restartedEmpty},
		{name: "server stands still for two thirds of a lease", by: "server: SIGSTOP, SIGCONT", does: standsStill(2 * lease / 3)},
		{name: "server stands still for one and a half leases", by: "server: SIGSTOP, SIGCONT", needs: notice, does: standsStill(3 * lease / 2)},
		{name: "subscription cut", by: "proxy: all connections of the waiter cut", does: subscriptionCut},
		{name: "message lost", by: "proxy: cut, and refused while the lock is released", does: messageLost},
		{name: "waiter's process stopped", by: "SIGSTOP of one of two waiters, just before the release", does: waiterStopped},
		{name: "1,000 waiters", by: "1,000 callers of one client", needs: waiting, does: crowd(1000), beside: alone},
		{name: "200 callers that give up", by: "their contexts, at random within 0.5 s", does: givingUp(200)},
		{name: "pool of two", by: "20 callers of 20 locks, two connections", does: poolOfTwo},
		{name: "idle connections closed", by: "proxy: all cut between calls", does: idleClosed},
		{name: "context ended while waiting", by: "cancel", does: endedWaiting},
		{name: "context ended while the acquire is under way", by: "proxy: the reply after 1.5 s; cancel", does: endedUnderWay},
		{name: "context ended while the unlock is under way", by: "proxy: the command after 1.5 s; cancel", does: endedInUnlock, untried: noUnlockContext},
		{name: "context ended while a renewal is under way", by: "proxy: the reply after 1.5 s; cancel of the context of the acquire; unlock", does: endedInRenewal, untried: noRenewalContext},
		{name: "planned failover", by: "Sentinel", needs: renewal, does: failover(planned), beside: few},
		{name: "master killed", by: "SIGKILL; Sentinel; two replicas", needs: renewal, does: failover(masterKilled), beside: few},
		{name: "slot moved", by: "CLUSTER SETSLOT and MIGRATE between two masters", does: slotMoved, beside: few, untried: noCluster},
		{name: "key deleted, lease of 30 s", by: "server: DEL", needs: notice, does: keyDeleted(young), lease: long},
		{name: "key deleted later, lease of 30 s", by: "server: DEL, 3 s after the acquire", needs: notice, does: keyDeleted(old), lease: long},
		{name: "key taken later, lease of 30 s", by: "server: DEL, 3 s after the acquire; another caller's lock", needs: notice, does: keyTaken(old), lease: long},
	}
	for i := range all {
		all[i].beside, all[i].lease = cmp.Or(all[i].beside, many), cmp.Or(all[i].lease, short)
	}
	return all
}

func noForce(p *party) string {
	if p.name == ours || p.name == javaP || p.name == rueidisP {
		return ""
	}
	return "has no way to force"
}

func noUnlockContext(p *party) string {
	if p.name == rueidisP {
		return "its release takes no context"
	}
	return ""
}

func noRenewalContext(p *party) string {
	switch {
	case p.name == javaP:
		return "a renewal has neither a context nor a thread of the caller's"
	case !p.renews:
		return "no such mode: " + p.lacks[renewal]
	}
	return ""
}

// noCluster says why a party has no cluster mode, by its own documentation.
func noCluster(p *party) string {
	switch p.name {
	case redsyncP, extendedP:
		return "no such mode: it knows independent servers, and a majority of them"
	case bsmP:
		return "no such mode: it knows one server"
	}
	return ""
}

func findFault(name string) *fault {
	for _, f := range faults() {
		if f.name == name {
			return &f
		}
	}
	return nil
}

// since is the time between two instants of the machine's clock.
func since(from, to int64) time.Duration { return time.Duration(to - from) }
