package simulation

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/rlock-go/redisson/codec"
)

// TestRandomCommandsOnAClusterAgree sends the same commands to real servers and to the model,
// while slots move.
func TestRandomCommandsOnAClusterAgree(t *testing.T) {
	seed, steps := uint64(Env("SIM_SEED", 1)), Env("SIM_CLUSTER_STEPS", 1500)
	real := realCluster(t)
	real.random(seed, steps)
	synctest.Test(t, func(t *testing.T) {
		g, _ := modelCluster(t, seed)
		g.random(seed, steps)
		g.like("server", real.seen)
		kinds := map[string]int{}
		for _, line := range g.seen {
			for _, kind := range []string{"MOVED", "ASK ", "TRYAGAIN", "CROSSSLOT", "BUSYKEY", "non local key", "NOSCRIPT", "same slot"} {
				if strings.Contains(line, kind) {
					kinds[kind]++
				}
			}
		}
		t.Logf("%d lines, of which %v", len(g.seen), kinds)
	})
}

// slotOf is a hash tag, and where its slot is.
type slotOf struct {
	tag      string
	slot     uint16
	from, to int // to is from unless the slot moves
}

// random sends random commands to all servers.
func (g *scene) random(seed uint64, steps int) {
	r := rand.New(rand.NewPCG(seed, 11))
	var viewers, admins []*viewer
	for i := range g.addrs {
		viewers, admins = append(viewers, g.viewer("client", i)), append(admins, g.viewer("operator", i))
		g.stays(i, true)
	}
	var slots []*slotOf
	for i := range 5 {
		tag := fmt.Sprintf("{%d}", i)
		slot := codec.Slot(tag)
		at := min(int(slot)/5461, 2)
		slots = append(slots, &slotOf{tag, slot, at, at})
	}
	key := func() string { return slots[r.IntN(len(slots))].tag + string(rune('a'+r.IntN(3))) }
	for range steps {
		if r.IntN(6) == 0 {
			g.moves(r, slots[r.IntN(len(slots))], admins)
			continue
		}
		v := viewers[r.IntN(len(viewers))]
		a, b := key(), key()
		if r.IntN(4) > 0 {
			b = a[:len(a)-1] + string(rune('a'+r.IntN(3)))
		}
		args := [][]any{
			{"GET", a}, {"SET", a, r.IntN(10)}, {"INCR", a}, {"DEL", a}, {"DEL", a, b}, {"EXISTS", a, b}, {"EXISTS", a, a}, {"PTTL", a}, {"GET"}, {"DEL"},
			{"EVAL", "return redis.call('get', KEYS[1])", 1, a}, {"EVAL", "return redis.call('incr', KEYS[1])", 1, a},
			{"EVAL", "return redis.call('del', KEYS[1], KEYS[2])", 2, a, b}, {"EVAL", "redis.call('set', KEYS[1], 1) return redis.call('get', KEYS[2])", 2, a, b},
			{"EVAL", "return redis.call('get', ARGV[1])", 0, a}, {"EVAL", "return redis.call('set', ARGV[1], 2)", 1, a, b}, {"EVAL", "return redis.pcall('get', ARGV[1])", 1, a, b},
			{"EVAL", "return redis.call('spublish', ARGV[1], 'x')", 1, a, b}, {"EVAL", "return redis.call('publish', ARGV[1], 'x')", 1, a, b},
			{"EVALSHA", strings.Repeat("0", 40), 2, a, b}, {"EVALSHA", strings.Repeat("0", 40), 0}, {"EVAL", "return 1", 3, a}, {"SPUBLISH", a, "x"}, {"PUBLISH", a, "x"},
			{"READONLY"}, {"READWRITE"}, {"HSET", a, "f", 1}, {"HGET", a, "f"}, {"SUNSUBSCRIBE", a}, {"CLUSTER", "KEYSLOT", a}, {"SELECT", r.IntN(2)},
		}[r.IntN(31)]
		if r.IntN(3) == 0 {
			v.does("ASKING")
		}
		v.does(args...)
		for _, a := range admins[:3] { // so that replicas have it too
			a.ask([]any{"WAIT", 1, 0})
		}
	}
}

// moves does one step of the move of a slot.
func (g *scene) moves(r *rand.Rand, s *slotOf, admins []*viewer) {
	from, to := admins[s.from], admins[s.to]
	if s.from == s.to {
		s.to = (s.from + 1 + r.IntN(2)) % 3
		to = admins[s.to]
		to.does("CLUSTER", "SETSLOT", s.slot, "IMPORTING", g.ids[s.from])
		if r.IntN(4) > 0 {
			from.does("CLUSTER", "SETSLOT", s.slot, "MIGRATING", g.ids[s.to])
		}
		return
	}
	switch r.IntN(8) {
	case 0:
		to.does("CLUSTER", "SETSLOT", s.slot, "STABLE")
		from.does("CLUSTER", "SETSLOT", s.slot, "STABLE")
		s.to = s.from
	case 1:
		from.does("CLUSTER", "SETSLOT", s.slot, "MIGRATING", g.ids[s.to])
	case 2:
		admins[r.IntN(6)].does("CLUSTER", "SETSLOT", s.slot, "IMPORTING", g.ids[s.to])
	case 3, 4:
		if from.ask([]any{"CLUSTER", "COUNTKEYSINSLOT", s.slot}) != "int64 0" {
			from.does("CLUSTER", "SETSLOT", s.slot, "NODE", g.ids[s.to])
			return
		}
		to.does("CLUSTER", "SETSLOT", s.slot, "NODE", g.ids[s.to])
		from.does("CLUSTER", "SETSLOT", s.slot, "NODE", g.ids[s.to])
		third := admins[3-s.from-s.to] // what it imports it does not learn of by itself
		third.does("CLUSTER", "SETSLOT", s.slot, "STABLE")
		third.does("CLUSTER", "SETSLOT", s.slot, "NODE", g.ids[s.to])
		s.from = s.to
		for i, a := range admins {
			g.becomes("all know who has the slot", func() bool {
				text := a.ask([]any{"GET", s.tag + "none"})
				return i == s.to && text == "nil" || strings.HasSuffix(text, fmt.Sprint("server ", s.to))
			})
		}
	default:
		host, port, _ := net.SplitHostPort(g.addrs[s.to])
		keys := []any{"MIGRATE", host, port, "", 0, 5000, "KEYS", s.tag + string(rune('a'+r.IntN(3)))}
		from.note(fmt.Sprint("migrates ", keys[7], " -> ") + from.ask(keys))
		from.ask([]any{"WAIT", 1, 0})
		to.ask([]any{"WAIT", 1, 0})
	}
	from.does("CLUSTER", "COUNTKEYSINSLOT", s.slot)
	to.does("CLUSTER", "COUNTKEYSINSLOT", s.slot)
}
