package simredis

import (
	"fmt"
	"strings"
	"time"

	"github.com/rlock-go/redisson/codec"
)

const (
	errDown      = Error("CLUSTERDOWN The cluster is down")
	errUnserved  = Error("CLUSTERDOWN Hash slot not served")
	errCrossSlot = Error("CROSSSLOT Keys in request don't hash to the same slot")
	errTryAgain  = Error("TRYAGAIN Multiple keys request during rehashing of slot")
)

// keysOf returns the keys of a command. sharded: they are channels.
func keysOf(name string, d command, a []string) (keys []string, sharded bool) {
	switch name {
	case "RESTORE-ASKING":
		return a, false
	case "SPUBLISH", "spublish":
		return a[:1], true
	case "SSUBSCRIBE", "SUNSUBSCRIBE":
		return a, true
	case "EVAL", "EVALSHA":
		if n, ok := integer(a[1]); ok && n > 0 && n <= int64(len(a)-2) {
			return a[2 : 2+n], false
		}
		return nil, false
	case "MIGRATE":
		if a[2] != "" {
			return a[2:3], false
		}
		for i, word := range a {
			if i > 4 && strings.EqualFold(word, "KEYS") {
				return a[i+1:], false
			}
		}
		return nil, false
	}
	return d.keys(a), false
}

// route returns the error by which the node sends a command elsewhere; nil: it runs here.
func (n *node) route(name string, d command, a []string, asking, readonly bool) any {
	keys, sharded := keysOf(name, d, a)
	if len(keys) == 0 {
		return nil
	}
	slot := codec.Slot(keys[0])
	owner := n.owner(slot)
	if owner == nil {
		return errUnserved
	}
	to, leaves := n.migrating[slot]
	_, comes := n.importing[slot]
	leaves, comes = leaves && owner == n.self, comes && owner != n.self
	here, missing, several := 0, 0, false
	for _, k := range keys {
		if codec.Slot(k) != slot {
			return errCrossSlot
		}
		several = several || k != keys[0]
		if (leaves || comes) && !sharded {
			if n.s.find(k) == nil {
				missing++
			} else {
				here++
			}
		}
	}
	redirect := func(word, id string) any {
		return Error(fmt.Sprintf("%s %d %s", word, slot, n.find(id).addr))
	}
	switch {
	case !n.serves && !sharded:
		return errDown
	case (leaves || comes) && name == "MIGRATE":
		return nil
	case leaves && missing > 0 && here > 0:
		return errTryAgain
	case leaves && missing > 0:
		return redirect("ASK", to)
	case comes && asking && several && missing > 0:
		return errTryAgain
	case comes && asking:
		return nil
	case (readonly || sharded) && n.self.master == owner.id && d.flags&writes == 0:
		return nil
	case owner != n.self:
		return redirect("MOVED", owner.id)
	}
	return nil
}

// inScript is route for a command of a script.
func (n *node) inScript(name string, d command, a []string) any {
	asks, readonly := false, false
	if c := n.s.current; c != nil {
		asks, readonly = c.asks, c.readonly
	}
	switch n.route(name, d, a, asks, readonly) {
	case nil:
		return nil
	case errDown:
		return Error("ERR Script attempted to execute a command while the cluster is down")
	}
	return Error("ERR Script attempted to access a non local key in a cluster node")
}

// holds tells whether a command has to wait for the end of a planned failover.
func (n *node) holds(c *client, args []string) bool {
	if n.takeover.by == "" || time.Now().After(n.takeover.holds) {
		return false
	}
	name, d, a, err := find(args)
	switch {
	case err != nil:
		return false
	case name == "EVAL" || name == "EVALSHA" || name == "PUBLISH" || name == "SPUBLISH" || d.flags&writes != 0:
		return n.route(name, d, a, c.asking, c.readonly) == nil
	}
	return false
}
