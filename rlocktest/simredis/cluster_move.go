package simredis

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"time"
)

// migrate is MIGRATE: it moves keys to another server at once.
func (n *node) migrate(a []string) any {
	keys, _ := keysOf("MIGRATE", commands["MIGRATE"], a)
	if len(keys) == 0 {
		return errSyntax
	}
	to, _ := n.c.w.At(net.JoinHostPort(a[0], a[1])).(*Server)
	if to == nil || to.down || to.Paused || to.cluster == nil || n.c.w.Between(hostOf(n.s.Addr), to.Addr).Blocked {
		return Error("IOERR error or timeout connecting to the client")
	}
	some, replaces := false, false
	for _, word := range a[min(5, len(a)):] {
		if strings.EqualFold(word, "KEYS") {
			break
		}
		replaces = replaces || strings.EqualFold(word, "REPLACE")
	}
	for _, k := range keys {
		e := n.s.find(k)
		if e == nil {
			continue
		}
		some = true
		refused := to.cluster.route("RESTORE-ASKING", command{}, []string{k}, true, false)
		if refused == nil && !replaces && to.find(k) != nil {
			refused = Error("BUSYKEY Target key name already exists.")
		}
		if refused != nil {
			return Error(fmt.Sprintf("ERR Target instance replied with error: %s", refused))
		}
		moved := e.clone()
		if moved.till != 0 {
			moved.till += to.now() - n.s.now()
		}
		to.db[k] = moved
		to.touch(k)
		to.expires(k, moved.till)
		n.s.delete(k, nil)
	}
	to.commit()
	if !some {
		return Status("NOKEY")
	}
	return Status("OK")
}

// setSlot is CLUSTER SETSLOT.
func (n *node) setSlot(slot uint16, how, id string) any {
	if n.self.master != "" {
		return Error("ERR Please use SETSLOT only with masters.")
	}
	m, owner := n.find(id), n.owner(slot)
	switch {
	case how == "STABLE":
	case how == "MIGRATING" && owner != n.self:
		return Error(fmt.Sprintf("ERR I'm not the owner of hash slot %d", slot))
	case how == "IMPORTING" && owner == n.self:
		return Error(fmt.Sprintf("ERR I'm already the owner of hash slot %d", slot))
	case m == nil && how == "NODE":
		return Error("ERR Unknown node " + id)
	case m == nil:
		return Error("ERR I don't know about node " + id)
	case m.master != "":
		return Error("ERR Target node is not a master")
	case how == "NODE" && owner == n.self && m != n.self && len(n.keys(slot, 1)) > 0:
		return Error(fmt.Sprintf("ERR Can't assign hashslot %d to a different node while I still hold keys for this hash slot.", slot))
	}
	switch how {
	case "MIGRATING":
		n.migrating[slot] = id
	case "IMPORTING":
		n.importing[slot] = id
	case "STABLE":
		delete(n.migrating, slot)
		delete(n.importing, slot)
	case "NODE":
		delete(n.migrating, slot)
		n.give(slot, m)
		_, came := n.importing[slot]
		if m == n.self && came {
			delete(n.importing, slot)
			n.bump()
			n.c.w.Note("%s owns slot %d", n.s.Addr, slot)
			if n.c.Moved != nil && owner != nil && owner != n.self {
				n.c.Moved(slot, n.server(owner.id), n.s)
			}
			n.all("pong", nil)
		}
		if owner == n.self && m != n.self && n.self.slots.none() && n.c.Empties {
			n.follow(m)
		}
	default:
		return Error("ERR Invalid CLUSTER SETSLOT action or number of arguments. Try CLUSTER HELP")
	}
	n.state()
	return Status("OK")
}

// Move moves a slot with its keys to the master that to is or has by then, one command
// after the other, as redis-cli does. It goes on with what a failover has left, waits for
// the end of another move of the slot, and calls done when all servers have been told; nil:
// nobody.
func (c *Cluster) Move(slot uint16, to *Server, done func()) {
	if c.moving[slot] {
		c.w.After(time.Second, func() { c.Move(slot, to, done) })
		return
	}
	c.moving[slot] = true
	c.step(slot, to, func() {
		delete(c.moving, slot)
		if done != nil {
			done()
		}
	})
}

// Moving reports whether a slot is half moved, as a server sees it.
func (c *Cluster) Moving() bool {
	return slices.ContainsFunc(c.Servers, func(s *Server) bool { return len(s.cluster.migrating)+len(s.cluster.importing) > 0 })
}

// step does the next step of a move.
func (c *Cluster) step(slot uint16, to *Server, done func()) {
	again := func(d time.Duration) { c.w.After(d, func() { c.step(slot, to, done) }) }
	from := c.Owner(slot)
	for range len(c.Servers) { // it may have been replaced
		if m := to.cluster.server(to.cluster.self.master); m != nil && m.cluster != nil {
			to = m
		}
	}
	if from == nil || from.down || from.Paused || to.down || to.Paused {
		again(500 * time.Millisecond)
		return
	}
	f, t := from.cluster, to.cluster
	// A node does not learn by itself who has a slot that it imports. When the former master becomes a replica, it knows nobody.
	if was := t.importing[slot]; was != "" && (was != f.id || t.owner(slot) == nil) {
		to.Command("SETSLOT", fmt.Sprint(slot), "STABLE")
	}
	if !f.serves || !t.serves || c.w.Between(hostOf(from.Addr), to.Addr).Blocked {
		again(500 * time.Millisecond)
		return
	}
	known := t.find(f.id)
	switch keys := f.keys(slot, 1); {
	case from == to:
		c.tell(slot, to, 0, done)
		return
	case known == nil || f.find(t.id) == nil || known.config < f.self.config || t.owner(slot) != known: // it would not prevail
		again(500 * time.Millisecond)
		return
	case t.importing[slot] != f.id:
		to.Command("SETSLOT", fmt.Sprint(slot), "IMPORTING", f.id)
	case f.migrating[slot] != t.id:
		from.Command("SETSLOT", fmt.Sprint(slot), "MIGRATING", t.id)
	case len(keys) > 0:
		h, p := split(to.Addr)
		// As redis-cli does with --cluster-replace: after a failover the owner may have again what had been moved, and the owner's copy counts.
		f.migrate([]string{h, p, keys[0], "0", "5000", "REPLACE"})
		from.commit()
	default:
		to.Command("SETSLOT", fmt.Sprint(slot), "NODE", t.id)
	}
	again(c.soon())
}

// tell tells each server by SETSLOT who owns a slot now.
func (c *Cluster) tell(slot uint16, owner *Server, i int, done func()) {
	if c.Owner(slot) != owner { // a replica that has replaced it meanwhile would give the slot back to it, and nobody would own it
		c.step(slot, owner, done)
		return
	}
	if i < len(c.Servers) {
		if s := c.Servers[i]; s.cluster.self.master == "" && s.cluster.find(owner.cluster.id) != nil {
			s.Command("SETSLOT", fmt.Sprint(slot), "NODE", owner.cluster.id)
		}
		c.w.After(c.soon(), func() { c.tell(slot, owner, i+1, done) })
		return
	}
	done()
}
