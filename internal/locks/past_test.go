package locks

import (
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/google/uuid"

	"github.com/rlock-go/redisson/internal/kind"
	"github.com/rlock-go/redisson/internal/topology"
)

// The number of remembered unlocks is bounded, and so is their age.
func TestPastUnlocksAreBounded(t *testing.T) {
	for what, row := range map[string]struct {
		every time.Duration // between two unlocks of a shard
		busy  int           // how many shards before it have had as many
		want  int
	}{
		"slowly":                   {time.Second, 0, int(repeatedFor / time.Second)},
		"within a moment":          {time.Millisecond, 0, maxPast},
		"where others are as busy": {time.Millisecond, 2 * sharedPast / maxPast, ownPast},
	} {
		t.Run(what, func(t *testing.T) {
			l := &Lock{Client: new(Client)}
			var s memory
			at := time.Hour
			for range row.busy + 1 {
				s = memory{}
				for range 2 * maxPast {
					at += row.every
					s.add(past{lock: l, sent: at})
				}
			}
			newest := 0
			for _, u := range s.all {
				if u.sent > at-time.Duration(row.want)*row.every {
					newest++
				}
			}
			if len(s.all) != row.want || newest != row.want {
				t.Errorf("%d remembered, %d of them the newest; want %d", len(s.all), newest, row.want)
			}
		})
	}
	if most := (shardCount*(ownPast+ownChanges*changeSize) + sharedPast) * unsafe.Sizeof(past{}); most > 3_200_000 {
		t.Errorf("a client remembers %d bytes, and docs/dev/protocol.md says 3.2 MB", most)
	}
}

// Unlocks that come slowly take each other's places. When more come at once, and there is room for them, the oldest are
// still the first to go.
func TestTheOldestPastUnlocksAreDroppedFirst(t *testing.T) {
	l := &Lock{Client: new(Client)}
	var m memory
	at := time.Hour
	for range 20 {
		at += time.Second
		m.add(past{lock: l, sent: at})
	}
	if m.oldest == 0 {
		t.Fatal("none has taken another's place")
	}
	for range maxPast + 100 {
		at += time.Millisecond
		m.add(past{lock: l, sent: at})
	}
	for i, u := range m.all {
		if age := at - u.sent; age >= maxPast*time.Millisecond {
			t.Errorf("%d, sent %v ago, is remembered, and younger ones are not", i, age)
		}
	}
}

// What is due is repeated before those that a failover made due, wherever its place is: here it replaces one that is
// too old.
func TestWhatIsDueIsSentWhereverItsPlaceIs(t *testing.T) {
	l := &Lock{Client: new(Client)}
	now := time.Hour
	m := memory{all: []past{{lock: l, sent: now - 2*repeatedFor}}, next: 1}
	m.add(past{lock: l, due: true, sent: now, until: now + time.Minute})
	if u := m.take(now); u == nil || u.sent != now || m.take(now) != nil {
		t.Errorf("%v is repeated", u)
	}
}

// Of the unlocks of one count only the newest is sent again.
func TestOneUnlockOfEachCountIsSentAgain(t *testing.T) {
	c := new(Client)
	c.actors.init(uuid.New())
	defer c.actors.Close()
	key := kind.Names{"orders"}
	of := func(k kind.Kind) *Lock {
		return &Lock{kind: k, names: key, Traits: k.Traits(), Client: c}
	}
	read, write := of(kind.ReadLock), of(kind.WriteLock)
	o, other := c.actors.new(), c.actors.new()
	now := time.Hour
	var m memory
	for i, u := range []past{{lock: read, owner: o}, {lock: write, owner: o}, {lock: of(kind.ReadLock), owner: o}, {lock: read, owner: other}, {lock: read, owner: o}} {
		u.sent, u.until = now+time.Duration(i), now+time.Minute-time.Duration(i)
		m.add(u)
	}
	m.replaced(topology.AllSlots, false, now+time.Second)
	var sent []time.Duration
	for u := m.take(now); u != nil; u = m.take(now) {
		sent = append(sent, u.sent-now)
		if u.owner == o && u.lock == read && u.until != now+time.Minute {
			t.Errorf("the newest is sent until %v, the oldest until %v", u.until-now, time.Minute)
		}
	}
	if !slices.Equal(sent, []time.Duration{1, 3, 4}) {
		t.Errorf("%v are sent", sent)
	}
}

// The older one may have left a place in a fair lock's queue, which a failover brings back too.
func TestOlderUnlockStillLeavesItsPlace(t *testing.T) {
	for name, extras := range map[string]*pastExtras{"none": nil, "kept": {keep: &keeping{until: 1}}, "its own": {place: new(placeTaken)}} {
		fair := &Lock{names: kind.Names{"orders"}, Traits: kind.Fair(0).Traits(), Client: new(Client)}
		plain := &Lock{names: kind.Names{"orders"}, Traits: kind.Reentrant.Traits(), Client: fair.Client}
		now, place := time.Hour, new(placeTaken)
		var m memory
		m.add(past{lock: fair, sent: now, until: now + time.Minute, extras: &pastExtras{place: place}})
		m.add(past{lock: plain, sent: now + 1, until: now + time.Second, extras: extras})
		for range 2 { // a second failover finds the same
			m.replaced(topology.AllSlots, false, now+1)
			older := m.take(now + 1)
			if older == nil || older.lock != fair || !older.leavesOnly(now+1) || older.extras.place != place {
				t.Fatalf("%s: %+v is sent, want the leave of the older one", name, older)
			}
			m.ended(*older, 0)
			newest := m.take(now + 1)
			if newest == nil || newest.lock != plain || newest.extras != extras || newest.until != now+time.Minute {
				t.Fatalf("%s: %+v is sent, want the newest, for as long as the older one", name, newest)
			}
			m.ended(*newest, 0)
			if u := m.take(now + 1); u != nil {
				t.Fatalf("%s: %+v is sent as well", name, u)
			}
		}
	}
}

// The topology may report several changes while no server can be reached. What waits to be repeated goes to the server of
// the last one, and is not queued once more for each.
func TestRepetitionUnderWayIsNotDoubled(t *testing.T) {
	c := new(Client)
	c.actors.init(uuid.New())
	defer c.actors.Close()
	a, b := c.actors.new(), c.actors.new()
	l := &Lock{names: kind.Names{"orders"}, Traits: kind.Reentrant.Traits(), Client: c}
	now := time.Hour
	var m memory
	m.add(past{lock: l, owner: a, sent: now, until: now + time.Minute})
	m.add(past{lock: l, owner: b, sent: now, until: now + time.Minute})
	takes := func(want ...Owner) (all []past) {
		t.Helper()
		for u := m.take(now); u != nil; u = m.take(now) {
			all = append(all, *u)
		}
		if !slices.EqualFunc(all, want, func(u past, by Owner) bool { return u.owner == by }) {
			t.Fatalf("%v are repeated, want %v", all, want)
		}
		return all
	}
	m.replaced(topology.AllSlots, false, now)
	first := takes(a, b)
	for range 5 {
		m.replaced(topology.AllSlots, false, now)
		takes()
	}
	m.ended(first[1], 0)
	second := takes(b) // its server may have been replaced since
	m.ended(second[0], 0)
	takes()
	m.ended(first[0], 0)
	takes(a)
}

// So is a change.
func TestRepeatedChangeUnderWayIsNotDoubled(t *testing.T) {
	now := time.Hour
	m := memory{changes: []*pastChange{{client: new(Client), sent: now, until: now + time.Minute}}}
	m.replaced(topology.AllSlots, false, now)
	first := m.takeChange(now)
	if first == nil {
		t.Fatal("nothing is repeated")
	}
	m.replaced(topology.AllSlots, false, now)
	if u := m.takeChange(now); u != nil {
		t.Error("it is repeated while it is under way")
	}
	m.repeated(first, 0, false)
	if u := m.takeChange(now); u != first {
		t.Error("it is not repeated on a server that came later")
	}
}

// A lease may be over when a failover brings a fair lock's place back, and the place outlives it. Then only the place is
// left again.
func TestPlaceIsLeftAfterTheLease(t *testing.T) {
	l := &Lock{names: kind.Names{"orders"}, Traits: kind.Reentrant.Traits(), Client: new(Client)}
	now := time.Hour
	for name, u := range map[string]past{
		"no place":             {until: now},
		"a place":              {until: now, extras: &pastExtras{place: new(placeTaken)}},
		"a place and a lease":  {until: now + 1, extras: &pastExtras{place: new(placeTaken)}},
		"a place that is left": {until: now + 1, extras: &pastExtras{place: new(placeTaken), leaves: true}},
	} {
		var m memory
		u.lock, u.sent = l, now
		m.add(u)
		m.replaced(topology.AllSlots, false, now)
		taken := m.take(now)
		if (taken != nil) != (name != "no place") {
			t.Errorf("%s: it is repeated: %v", name, taken != nil)
		}
		if taken != nil && taken.leavesOnly(now) != (name == "a place" || u.extras.leaves) {
			t.Errorf("%s: only the place is left: %v", name, taken.leavesOnly(now))
		}
	}
}
