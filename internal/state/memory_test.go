package state

import (
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/google/uuid"

	"github.com/rlock-go/redisson/internal/core"
	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/owner"
	"github.com/rlock-go/redisson/internal/topology"
)

// The number of remembered unlocks is bounded, and so is their age.
func TestPastUnlocksAreBounded(t *testing.T) {
	for what, row := range map[string]struct {
		every time.Duration // between two unlocks of a shard
		busy  int           // how many shards before it have had as many
		want  int
	}{
		"slowly":                   {time.Second, 0, int(RepeatedFor / time.Second)},
		"within a moment":          {time.Millisecond, 0, maxPast},
		"where others are as busy": {time.Millisecond, 2 * sharedPast / maxPast, ownPast},
	} {
		t.Run(what, func(t *testing.T) {
			l := &Lock{Client: new(Client)}
			var s Memory
			at := time.Hour
			for range row.busy + 1 {
				s = Memory{}
				for range 2 * maxPast {
					at += row.every
					s.Add(Past{Lock: l, Sent: at})
				}
			}
			newest := 0
			for _, u := range s.all {
				if u.Sent > at-time.Duration(row.want)*row.every {
					newest++
				}
			}
			if len(s.all) != row.want || newest != row.want {
				t.Errorf("%d remembered, %d of them the newest; want %d", len(s.all), newest, row.want)
			}
		})
	}
	if most := (shardCount*(ownPast+ownChanges*changeSize) + sharedPast) * unsafe.Sizeof(Past{}); most > 3_200_000 {
		t.Errorf("a client remembers %d bytes, and docs/dev/protocol.md says 3.2 MB", most)
	}
}

// Unlocks that come slowly take each other's places. When more come at once, and there is room for them, the oldest are
// still the first to go.
func TestTheOldestPastUnlocksAreDroppedFirst(t *testing.T) {
	l := &Lock{Client: new(Client)}
	var m Memory
	at := time.Hour
	for range 20 {
		at += time.Second
		m.Add(Past{Lock: l, Sent: at})
	}
	if m.oldest == 0 {
		t.Fatal("none has taken another's place")
	}
	for range maxPast + 100 {
		at += time.Millisecond
		m.Add(Past{Lock: l, Sent: at})
	}
	for i, u := range m.all {
		if age := at - u.Sent; age >= maxPast*time.Millisecond {
			t.Errorf("%d, sent %v ago, is remembered, and younger ones are not", i, age)
		}
	}
}

// What is due is repeated before those that a failover made due, wherever its place is: here it replaces one that is
// too old.
func TestWhatIsDueIsSentWhereverItsPlaceIs(t *testing.T) {
	l := &Lock{Client: new(Client)}
	now := time.Hour
	m := Memory{all: []Past{{Lock: l, Sent: now - 2*RepeatedFor}}, next: 1}
	m.Add(Past{Lock: l, Due: true, Sent: now, Until: now + time.Minute})
	if u := m.Take(now); u == nil || u.Sent != now || m.Take(now) != nil {
		t.Errorf("%v is repeated", u)
	}
}

// Of the unlocks of one count only the newest is sent again.
func TestOneUnlockOfEachCountIsSentAgain(t *testing.T) {
	c := new(Client)
	c.Actors.Init(uuid.New())
	defer c.Actors.Close()
	key := kind.Names{"orders"}
	of := func(k kind.Kind) *Lock {
		return &Lock{Lock: core.Lock{Kind: k, Names: key, Traits: k.Traits()}, Client: c}
	}
	read, write := of(kind.ReadLock), of(kind.WriteLock)
	o, other := c.Actors.New(), c.Actors.New()
	now := time.Hour
	var m Memory
	for i, u := range []Past{{Lock: read, Owner: o}, {Lock: write, Owner: o}, {Lock: of(kind.ReadLock), Owner: o}, {Lock: read, Owner: other}, {Lock: read, Owner: o}} {
		u.Sent, u.Until = now+time.Duration(i), now+time.Minute-time.Duration(i)
		m.Add(u)
	}
	m.Replaced(topology.AllSlots, false, now+time.Second)
	var sent []time.Duration
	for u := m.Take(now); u != nil; u = m.Take(now) {
		sent = append(sent, u.Sent-now)
		if u.Owner == o && u.Lock == read && u.Until != now+time.Minute {
			t.Errorf("the newest is sent until %v, the oldest until %v", u.Until-now, time.Minute)
		}
	}
	if !slices.Equal(sent, []time.Duration{1, 3, 4}) {
		t.Errorf("%v are sent", sent)
	}
}

// The older one may have left a place in a fair lock's queue, which a failover brings back too.
func TestOlderUnlockStillLeavesItsPlace(t *testing.T) {
	for name, extras := range map[string]*PastExtras{"none": nil, "kept": {Keep: &Keeping{Until: 1}}, "its own": {Place: new(PlaceTaken)}} {
		fair := &Lock{Lock: core.Lock{Names: kind.Names{"orders"}, Traits: kind.Fair(0).Traits()}, Client: new(Client)}
		plain := &Lock{Lock: core.Lock{Names: kind.Names{"orders"}, Traits: kind.Reentrant.Traits()}, Client: fair.Client}
		now, place := time.Hour, new(PlaceTaken)
		var m Memory
		m.Add(Past{Lock: fair, Sent: now, Until: now + time.Minute, Extras: &PastExtras{Place: place}})
		m.Add(Past{Lock: plain, Sent: now + 1, Until: now + time.Second, Extras: extras})
		for range 2 { // a second failover finds the same
			m.Replaced(topology.AllSlots, false, now+1)
			older := m.Take(now + 1)
			if older == nil || older.Lock != fair || !older.LeavesOnly(now+1) || older.Extras.Place != place {
				t.Fatalf("%s: %+v is sent, want the leave of the older one", name, older)
			}
			m.Ended(*older, 0)
			newest := m.Take(now + 1)
			if newest == nil || newest.Lock != plain || newest.Extras != extras || newest.Until != now+time.Minute {
				t.Fatalf("%s: %+v is sent, want the newest, for as long as the older one", name, newest)
			}
			m.Ended(*newest, 0)
			if u := m.Take(now + 1); u != nil {
				t.Fatalf("%s: %+v is sent as well", name, u)
			}
		}
	}
}

// The topology may report several changes while no server can be reached. What waits to be repeated goes to the server of
// the last one, and is not queued once more for each.
func TestRepetitionUnderWayIsNotDoubled(t *testing.T) {
	c := new(Client)
	c.Actors.Init(uuid.New())
	defer c.Actors.Close()
	a, b := c.Actors.New(), c.Actors.New()
	l := &Lock{Lock: core.Lock{Names: kind.Names{"orders"}, Traits: kind.Reentrant.Traits()}, Client: c}
	now := time.Hour
	var m Memory
	m.Add(Past{Lock: l, Owner: a, Sent: now, Until: now + time.Minute})
	m.Add(Past{Lock: l, Owner: b, Sent: now, Until: now + time.Minute})
	takes := func(want ...owner.Owner) (all []Past) {
		t.Helper()
		for u := m.Take(now); u != nil; u = m.Take(now) {
			all = append(all, *u)
		}
		if !slices.EqualFunc(all, want, func(u Past, by owner.Owner) bool { return u.Owner == by }) {
			t.Fatalf("%v are repeated, want %v", all, want)
		}
		return all
	}
	m.Replaced(topology.AllSlots, false, now)
	first := takes(a, b)
	for range 5 {
		m.Replaced(topology.AllSlots, false, now)
		takes()
	}
	m.Ended(first[1], 0)
	second := takes(b) // its server may have been replaced since
	m.Ended(second[0], 0)
	takes()
	m.Ended(first[0], 0)
	takes(a)
}

// So is a change.
func TestRepeatedChangeUnderWayIsNotDoubled(t *testing.T) {
	now := time.Hour
	m := Memory{changes: []*PastChange{{Client: new(Client), Sent: now, Until: now + time.Minute}}}
	m.Replaced(topology.AllSlots, false, now)
	first := m.TakeChange(now)
	if first == nil {
		t.Fatal("nothing is repeated")
	}
	m.Replaced(topology.AllSlots, false, now)
	if u := m.TakeChange(now); u != nil {
		t.Error("it is repeated while it is under way")
	}
	m.Repeated(first, 0, false)
	if u := m.TakeChange(now); u != first {
		t.Error("it is not repeated on a server that came later")
	}
}

// A lease may be over when a failover brings a fair lock's place back, and the place outlives it. Then only the place is
// left again.
func TestPlaceIsLeftAfterTheLease(t *testing.T) {
	l := &Lock{Lock: core.Lock{Names: kind.Names{"orders"}, Traits: kind.Reentrant.Traits()}, Client: new(Client)}
	now := time.Hour
	for name, u := range map[string]Past{
		"no place":             {Until: now},
		"a place":              {Until: now, Extras: &PastExtras{Place: new(PlaceTaken)}},
		"a place and a lease":  {Until: now + 1, Extras: &PastExtras{Place: new(PlaceTaken)}},
		"a place that is left": {Until: now + 1, Extras: &PastExtras{Place: new(PlaceTaken), Leaves: true}},
	} {
		var m Memory
		u.Lock, u.Sent = l, now
		m.Add(u)
		m.Replaced(topology.AllSlots, false, now)
		taken := m.Take(now)
		if (taken != nil) != (name != "no place") {
			t.Errorf("%s: it is repeated: %v", name, taken != nil)
		}
		if taken != nil && taken.LeavesOnly(now) != (name == "a place" || u.Extras.Leaves) {
			t.Errorf("%s: only the place is left: %v", name, taken.LeavesOnly(now))
		}
	}
}
