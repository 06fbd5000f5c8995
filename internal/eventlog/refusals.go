package eventlog

import (
	"context"
	"log/slog"
)

// Costs are what it costs if a server refuses a command that a client can do without. The
// refusals of some have lines of their own in the log, which say the same of what was seen.
var Costs = map[string]string{
	"ASKING":             "calls fail while the slot of their lock is moved",
	"CLIENT CACHING":     renewalsTell,
	"CLIENT ID":          noKillBarrier,
	"CLIENT INFO":        renewalsTell + ", and there is no kill barrier, unless CLIENT LIST says the same",
	"CLIENT KILL":        noKillBarrier,
	"CLIENT LIST":        renewalsTell + ", and rlock show can't name connections",
	"CLIENT SETNAME":     "connections have no name, so rlock show can't name a holder's",
	"CLIENT TRACKING":    renewalsTell,
	"CLUSTER MYID":       "another application's cluster that gets these addresses is taken for this one",
	"CLUSTER NODES":      "after a master lost its only replica nobody gets a lock there until one is back, and other clusters are not kept out",
	"EVALSHA fair_leave": "waiters that give up keep others from a fair lock until their places end",
	"HRANDFIELD":         "ForceUnlock deletes the multi-lock of a group",
	"INFO":               "the replicas that are connected are not known, which WithReplicaSync needs",
	"PUBSUB NUMSUB":      notCounted,
	"PUBSUB SHARDNUMSUB": notCounted,
	"ROLE":               "a server that became a replica is noticed only when it refuses a write",
	"SCRIPT LOAD":        "each command carries its whole script (EVAL)",
	"SENTINEL MASTER":    "a failover that has begun, and how late one begins, are not known",
	"SENTINEL MYID":      "a Sentinel that has two addresses counts twice",
	"SENTINEL REPLICAS":  "replicas that are away when the client connects do not count",
	"SENTINEL SENTINELS": "Sentinels that the URL lacks are not found",
	"SPUBLISH":           "this client and Redisson from 3.29 on don't wake each other",
	"WAIT":               "WithReplicaSync gets no acknowledgement",
}

const (
	noKillBarrier = "there is no kill barrier, so a lost acquire is undone again and again for one lease"
	notCounted    = "busy locks are not shared fairly with slower clients, and Info counts no waiters"
	renewalsTell  = "a loss is noticed at the next renewal"
)

// CommandRefused logs that the account may not send a command, or that the server has none of its
// name, and what that costs. It is logged once for each command.
func (e *Log) CommandRefused(out Outside, server, command string, err error) {
	if !e.Warns() {
		return
	}
	if _, said := e.refused.LoadOrStore(command, nil); !said {
		e.line(context.Background(), out, slog.LevelWarn, "command refused", each, Lock{}, []slog.Attr{
			slog.String("server", server), slog.String("command", command), slog.String("cost", Costs[command]), failed(err),
		})
	}
}
