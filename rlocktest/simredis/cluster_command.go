package simredis

import (
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/rlock-go/redisson/codec"
)

func init() {
	inCluster := func(run func(c *client, a []string) any) func(c *client, a []string) any {
		return func(c *client, a []string) any {
			if c.s.cluster == nil {
				return Error("ERR This instance has cluster support disabled")
			}
			return run(c, a)
		}
	}
	readonly := func(on bool) func(c *client, a []string) any {
		return inCluster(func(c *client, _ []string) any { c.readonly = on; return Status("OK") })
	}
	register(map[string]command{
		"ASKING":    {0, 0, noKeys, nil, inCluster(func(c *client, _ []string) any { c.asking = true; return Status("OK") })},
		"READONLY":  {0, 0, loads | noKeys, nil, readonly(true)},
		"READWRITE": {0, 0, loads | noKeys, nil, readonly(false)},
		"MIGRATE":   {5, 99, writes, nil, inCluster(func(c *client, a []string) any { return c.s.cluster.migrate(a) })},
	})
	for sub, least := range map[string]int{
		"SLOTS": 0, "SHARDS": 0, "NODES": 0, "INFO": 0, "MYID": 0, "KEYSLOT": 1, "COUNTKEYSINSLOT": 1, "GETKEYSINSLOT": 2, "SETSLOT": 2,
		"MEET": 2, "FORGET": 1, "REPLICATE": 1, "ADDSLOTSRANGE": 2, "FAILOVER": 0, "RESET": 0,
	} {
		run := inCluster(func(c *client, a []string) any { return c.s.cluster.command(sub, a) })
		register(map[string]command{"CLUSTER|" + sub: {least, 9, loads | noKeys, nil, run}})
	}
}

// command is CLUSTER.
func (n *node) command(sub string, a []string) any {
	slot := func() uint16 { i, _ := strconv.ParseUint(a[0], 10, 14); return uint16(i) }
	switch sub {
	case "MYID":
		return n.id
	case "INFO":
		return n.infoText()
	case "NODES":
		text := ""
		for _, m := range n.known {
			text += n.line(m)
		}
		return text
	case "SLOTS":
		return n.slotsReply()
	case "KEYSLOT":
		return int64(codec.Slot(a[0]))
	case "COUNTKEYSINSLOT":
		return int64(len(n.keys(slot(), slotCount)))
	case "GETKEYSINSLOT":
		most, _ := strconv.Atoi(a[1])
		return n.keys(slot(), most)
	case "SETSLOT":
		id := ""
		if len(a) > 2 {
			id = a[2]
		}
		return n.setSlot(slot(), strings.ToUpper(a[1]), id)
	case "FAILOVER":
		return n.failover(strings.ToUpper(strings.Join(a, "")))
	case "MEET":
		n.meet(net.JoinHostPort(a[0], a[1]))
	case "FORGET":
		switch m := n.find(a[0]); {
		case m == nil:
			return Error("ERR Unknown node " + a[0])
		case m == n.self:
			return Error("ERR I tried hard but I can't forget myself...")
		case m.id == n.self.master:
			return Error("ERR Can't forget my master!")
		}
		n.forget(a[0])
	case "REPLICATE":
		m := n.find(a[0])
		switch {
		case m == nil:
			return Error("ERR Unknown node " + a[0])
		case m == n.self:
			return Error("ERR Can't replicate myself")
		case m.master != "":
			return Error("ERR I can only replicate a master, not a replica.")
		case n.self.master == "" && (!n.self.slots.none() || len(n.s.db) > 0):
			return Error("ERR To set a master the node must be empty and without assigned slots.")
		}
		n.follow(m)
	case "ADDSLOTSRANGE":
		first, _ := strconv.ParseUint(a[0], 10, 14)
		last, _ := strconv.ParseUint(a[1], 10, 14)
		for i := first; i <= last; i++ {
			if n.owner(uint16(i)) != nil {
				return Error(fmt.Sprintf("ERR Slot %d is already busy", i))
			}
		}
		for i := first; i <= last; i++ {
			n.self.slots.set(uint16(i), true)
		}
	case "RESET":
		if n.self.master == "" && len(n.s.db) > 0 {
			return Error("ERR CLUSTER RESET can't be called with master nodes containing keys")
		}
		n.leave(strings.EqualFold(strings.Join(a, ""), "HARD"))
	default:
		return Error("ERR the model has no CLUSTER " + sub)
	}
	n.state()
	return Status("OK")
}

// Command runs an operator's CLUSTER command on the server, as if it came from the server's own host.
func (s *Server) Command(args ...string) any {
	if s.down || s.Paused || s.cluster == nil {
		return Error("IOERR the server does not answer")
	}
	reply := s.cluster.command(strings.ToUpper(args[0]), args[1:])
	s.commit()
	return reply
}
