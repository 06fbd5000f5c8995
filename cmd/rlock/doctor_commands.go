package main

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
)

// costs are commands that a client sends beside its scripts, in a form that changes nothing, and what
// it costs if the server refuses them. Needs has those without which nothing works.
var costs = []struct {
	name  string
	ask   command // KEY stands for one of the names that the account may use
	costs string
}{
	{"CLIENT ID", command{"CLIENT", "ID"}, "there is no kill barrier, so a lost acquire is undone again and again for one lease"},
	{"CLIENT INFO", command{"CLIENT", "INFO"}, "there is no kill barrier, unless CLIENT LIST says the same"},
	{"CLIENT KILL", command{"CLIENT", "KILL", "ID", int64(math.MaxInt64)}, "there is no kill barrier, so a lost acquire is undone again and again for one lease"},
	{"CLIENT LIST", command{"CLIENT", "LIST", "ID", 1}, "a loss is noticed at the next renewal, and show can't name connections"},
	{"CLIENT TRACKING", command{"CLIENT", "TRACKING", "OFF"}, "a loss is noticed at the next renewal"},
	{"CLIENT CACHING", command{"CLIENT", "CACHING", "YES"}, "a loss is noticed at the next renewal"},
	{"CLIENT SETNAME", command{"CLIENT", "SETNAME", "rlock-cli"}, "connections have no name, so show can't name a holder's"},
	{"INFO", command{"INFO", "replication"}, "the replicas that are connected are not known, which WithReplicaSync needs"},
	{"ROLE", command{"ROLE"}, "a server that became a replica is noticed only when it refuses a write"},
	{"WAIT", command{"WAIT", 0, 1}, "WithReplicaSync gets no acknowledgement"},
	{"PUBSUB NUMSUB", command{"PUBSUB", "NUMSUB"}, "busy locks are not shared fairly with slower clients, and Info counts no waiters"},
	{"SCRIPT LOAD", command{"SCRIPT", "LOAD", "return 1"}, "each command carries its whole script (EVAL)"},
	{"HRANDFIELD", command{"HRANDFIELD", "KEY"}, "ForceUnlock deletes the multi-lock of a group"},
	{"ASKING", command{"ASKING"}, "calls fail while the slot of their lock is moved"},
	{"CLUSTER MYID", command{"CLUSTER", "MYID"}, "another application's cluster that gets these addresses is taken for this one"},
	{"CLUSTER NODES", command{"CLUSTER", "NODES"}, "after a master lost its only replica nobody gets a lock there until one is back, and other clusters are not kept out"},
	{"SPUBLISH", command{"SPUBLISH", codec.Channel("rlock-probe"), ""}, "releases wake no Redisson from 3.29 on"},
	{"PUBSUB SHARDNUMSUB", command{"PUBSUB", "SHARDNUMSUB"}, "busy locks are not shared fairly with slower clients, and Info counts no waiters"},
}

// ofClusters is the first of costs that only clients of a cluster send.
const ofClusters = "ASKING"

// commands tries each of these, and names those that are refused.
func (d *doctor) commands(ctx context.Context, n *node) error {
	fine := true
	for _, c := range costs {
		if c.name == ofClusters && !d.r.parts.Cluster {
			break
		}
		if d.r.readOnly && (c.name == "SCRIPT LOAD" || c.name == "SPUBLISH") {
			continue
		}
		ask := slices.Clone(c.ask)
		if i := slices.Index(ask, any("KEY")); i > 0 {
			ask[i] = d.prefix + "doctor"
		}
		_, err := n.do(ctx, ask[0].(string), ask[1:]...)
		said, answered := err.(redis.Error)
		switch {
		case err != nil && !answered:
			return err
		case answered && isForbidden(string(said)):
			d.say("warn", "command", "%s is refused: %s", c.name, c.costs)
			fine = false
		} // any other error is about its arguments
	}
	if fine {
		d.say("ok", "commands", "all that clients send beside their scripts are allowed")
	}
	return nil
}

// isForbidden tells whether the account may not send a command, or the server has none of its name.
func isForbidden(text string) bool {
	return slices.ContainsFunc([]string{"NOPERM ", "ERR unknown ", "ERR Unknown "}, func(p string) bool { return strings.HasPrefix(text, p) })
}
