package topology

import (
	"cmp"
	"time"

	"github.com/rlock-go/redisson/internal/luasrc"
)

// Publish is Settings.Publish if the slot's server supports sharded channels, else
// luasrc.Publish.
func (t *Cluster) Publish(slot uint16) luasrc.Arg {
	sharded := &t.sharded
	if n := t.table[slot].Load(); n != nil {
		sharded = &n.sharded
	}
	if !sharded.Load() {
		return luasrc.Publish
	}
	return cmp.Or[luasrc.Arg](t.s.Publish, luasrc.Both)
}

// Subscriptions are SUBSCRIBE and, if supported, SSUBSCRIBE on the slot's master, since a
// publisher may use either. While the master is not known, a server of the URL takes its
// place until a Change names the master.
func (t *Cluster) Subscriptions(slot uint16) []Subscription {
	n := t.table[slot].Load()
	if n == nil {
		t.lookSoon()
		t.mu.Lock()
		m := t.member(t.seeds[0])
		m.asked = time.Now()
		t.mu.Unlock()
		return []Subscription{{Node: m.node}}
	}
	if !n.sharded.Load() {
		return []Subscription{{Node: n}}
	}
	return []Subscription{{Node: n, Sharded: true}, {Node: n}}
}
