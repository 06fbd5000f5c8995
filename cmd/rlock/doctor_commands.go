package main

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/eventlog"
)

// dispensable are commands that a client sends beside its scripts, and can do without, in a form that
// changes nothing. Needs has those without which nothing works.
var dispensable = []struct {
	name string
	ask  command // KEY stands for one of the names that the account may use
}{
	{"CLIENT ID", command{"CLIENT", "ID"}},
	{"CLIENT INFO", command{"CLIENT", "INFO"}},
	{"CLIENT KILL", command{"CLIENT", "KILL", "ID", int64(math.MaxInt64)}},
	{"CLIENT LIST", command{"CLIENT", "LIST", "ID", 1}},
	{"CLIENT TRACKING", command{"CLIENT", "TRACKING", "OFF"}},
	{"CLIENT CACHING", command{"CLIENT", "CACHING", "YES"}},
	{"CLIENT SETNAME", command{"CLIENT", "SETNAME", "rlock-cli"}},
	{"INFO", command{"INFO", "replication"}},
	{"ROLE", command{"ROLE"}},
	{"WAIT", command{"WAIT", 0, 1}},
	{"PUBSUB NUMSUB", command{"PUBSUB", "NUMSUB"}},
	{"SCRIPT LOAD", command{"SCRIPT", "LOAD", "return 1"}},
	{"HRANDFIELD", command{"HRANDFIELD", "KEY"}},
	{"ASKING", command{"ASKING"}},
	{"CLUSTER MYID", command{"CLUSTER", "MYID"}},
	{"CLUSTER NODES", command{"CLUSTER", "NODES"}},
	{"SPUBLISH", command{"SPUBLISH", codec.Channel("rlock-probe"), ""}},
	{"PUBSUB SHARDNUMSUB", command{"PUBSUB", "SHARDNUMSUB"}},
}

// ofClusters is the first of dispensable that only clients of a cluster send.
const ofClusters = "ASKING"

// commands tries each of these, and names those that are refused.
func (d *doctor) commands(ctx context.Context, n *node) error {
	fine := true
	for _, c := range dispensable {
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
			d.say("warn", "command", "%s is refused: %s", c.name, eventlog.Costs[c.name])
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
