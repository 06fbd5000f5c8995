package checker

import (
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/chaos/internal/history"
)

func read(a *history.Acquisition) *history.Acquisition {
	a.Read = true
	return a
}

func numbered(token int64, a *history.Acquisition) *history.Acquisition {
	a.Token = &token
	return a
}

func javas(a *history.Acquisition) *history.Acquisition {
	a.Process.Side = history.Java
	return a
}

// again is a call of an owner that may be inside.
func again(owner string, called, returned int64, refusal string) *history.Acquisition {
	return &history.Acquisition{
		Process: history.Process{Side: history.Go}, Op: called, Owner: owner, Asked: true, Mode: "Lock",
		Called: called, Returned: returned, Refusal: refusal,
	}
}

// queue is lock 0's queue at an instant. The first place lasts left+place ns more, each further one place longer.
func queue(at, left int64, owners ...string) history.Queue {
	q := history.Queue{Asked: at, Answered: at}
	for _, o := range owners {
		left += place
		q.Places = append(q.Places, history.Place{Owner: o, Until: at + left})
	}
	return q
}

// place is how long a waiter keeps its place, in ns.
const place = int64(100)

func queued(a *history.Acquisition) *history.Acquisition {
	a.Place = a.Owner
	return a
}

// shown is a sighting of lock 0 at an instant: a key that lives for ttl ns, with a hold for each mention of an owner.
func shown(at, ttl int64, owners ...string) history.Sighting {
	s := history.Sighting{Asked: at, Answered: at, Owners: map[string]int{}, TTL: ttl / 1e6}
	for _, o := range owners {
		s.Owners[o]++
	}
	return s
}

// told is a stay that first reported until as the end of its validity, and then its loss at lost.
func told(lost, until int64) *history.Acquisition {
	return change(stay("a", 1, 2, 4*sec), func(a *history.Acquisition) {
		a.Lost, a.Until, a.Outcome = lost, until, history.LostLease
		a.Said = []history.Said{{At: 2, Until: until}, {At: lost - 1000, Until: lost}}
	})
}

// common makes a an acquisition of an owner that several clients use.
func common(a *history.Acquisition) *history.Acquisition {
	a.Asked = true
	return a
}

// unlocked sets the outcome of a's unlock.
func unlocked(outcome string, a *history.Acquisition) *history.Acquisition {
	a.Outcome = outcome
	return a
}

var (
	inCommon = Model{Common: true}

	shared = Model{Shared: true}
	once   = Model{Once: true}
	tokens = Model{Tokens: true}
	order  = Model{Order: true}
	three  = Model{Permits: 3}

	several = Model{Several: true}
)

// taking is an acquisition of n permits.
func taking(n int, a *history.Acquisition) *history.Acquisition {
	a.Permits = n
	return a
}

func TestWhatAKindPromisesIsJudged(t *testing.T) {
	flush := []history.Void{{From: 4, To: 5, Lock: history.Every, Why: "FLUSHALL"}}
	forced := []history.Void{{From: 4, To: 5, Why: "forced"}}
	type list = []*history.Acquisition
	waits := func(o string, called, from, to int64) *history.Acquisition { return queued(stay(o, called, from, to)) }
	for name, c := range map[string]struct {
		model        Model
		acquisitions list
		queues       []history.Queue
		sightings    []history.Sighting
		voids        []history.Void
		troubles     []Trouble
		want         string // how the violation begins; empty for none
	}{
		"late behind one that shares with nobody": {want: "lock 0 was free at 10", acquisitions: list{
			change(stay("a", 1, 2, 9), func(a *history.Acquisition) { a.Lost, a.Outcome = 5, history.LostLease }),
			stay("b", 3, 6, 9), stay("c", 4, 9+2*sec, 9+3*sec)}},

		"the server shows who is inside": {sightings: []history.Sighting{shown(5, 2*sec, "a"), shown(12, -2e6)}, acquisitions: list{stay("a", 1, 2, 9)}},
		"the server shows nobody":        {want: "trust: Go0/0 worker 0 op 1 (Lock, a) is valid, as 1", sightings: []history.Sighting{shown(5, -2e6)}, acquisitions: list{stay("a", 1, 2, 9)}},
		"it shows somebody else":         {want: "trust", sightings: []history.Sighting{shown(5, 2*sec, "b")}, acquisitions: list{stay("a", 1, 2, 9)}},
		"it shows one of two":            {want: "trust: Go0/0 worker 0 op 3", sightings: []history.Sighting{shown(6, 2*sec, "a")}, acquisitions: list{stay("a", 1, 2, 9), common(stay("a", 3, 4, 8))}},
		"it shows nobody as one comes":   {sightings: []history.Sighting{shown(2, -2e6)}, acquisitions: list{stay("a", 1, 2, 9)}},
		"it shows nobody after a flush":  {sightings: []history.Sighting{shown(6, -2e6)}, voids: flush, acquisitions: list{stay("a", 1, 2, 9)}},
		"the key lives too short": {want: "trust: Go0/0 worker 0 op 1 (Lock, a) is trusted for 1s at 5", sightings: []history.Sighting{shown(5, sec/2, "a")},
			acquisitions: list{change(stay("a", 1, 2, 9), func(a *history.Acquisition) { a.Said = []history.Said{{At: 2, Until: 5 + sec}} })}},
		"its trust was shortened before": {sightings: []history.Sighting{shown(5, sec/2, "a")},
			acquisitions: list{change(stay("a", 1, 2, 9), func(a *history.Acquisition) {
				a.Said = []history.Said{{At: 2, Until: 5 + sec}, {At: 4, Until: sec / 2}}
			})}},
		"a release that counts not at all": {want: "count: lock 0 shows 1 of a at 12, which may have 0", sightings: []history.Sighting{shown(12, 2*sec, "a")}, acquisitions: list{stay("a", 1, 2, 9)}},
		"a release of which nobody knows":  {sightings: []history.Sighting{shown(12, 2*sec, "a")}, acquisitions: list{unlocked(history.Uncertain, stay("a", 1, 2, 9))}},
		"an acquire that counts twice":     {want: "count: lock 0 shows 2 of a at 5, which may have 1", sightings: []history.Sighting{shown(5, 2*sec, "a", "a")}, acquisitions: list{stay("a", 1, 2, 9)}},
		"an acquire of which nobody knows": {sightings: []history.Sighting{shown(6, 2*sec, "a", "a")}, acquisitions: list{stay("a", 1, 2, 9), again("a", 3, 4, history.Uncertain)}},
		"a refused one that counts":        {want: "count", sightings: []history.Sighting{shown(6, 2*sec, "a", "a")}, acquisitions: list{stay("a", 1, 2, 9), again("a", 3, 4, history.Locked)}},
		"what is permits' is shown once":   {model: three, sightings: []history.Sighting{shown(5, -2e6, "a")}, acquisitions: list{taking(2, stay("a", 1, 2, 9))}},

		"a common owner inside of itself": {model: inCommon, acquisitions: list{common(stay("a", 1, 2, 9)), common(stay("a", 3, 4, 7))}},
		"beside another":                  {model: inCommon, want: "exclusion", acquisitions: list{common(stay("a", 1, 2, 9)), common(stay("b", 3, 4, 7))}},
		"behind a lost unlock of it":      {model: inCommon, acquisitions: list{common(stay("a", 1, 2, 20)), unlocked(history.Uncertain, common(stay("a", 3, 4, 7))), common(stay("b", 3, 9, 11))}},
		"before a lost unlock of it":      {model: inCommon, want: "exclusion", acquisitions: list{common(stay("a", 1, 2, 20)), unlocked(history.Uncertain, common(stay("a", 3, 4, 17))), common(stay("b", 3, 9, 11))}},
		"beside what is left to expire":   {model: inCommon, want: "exclusion", acquisitions: list{common(stay("a", 1, 2, 20)), unlocked(history.Kept, common(stay("a", 3, 4, 7))), common(stay("b", 3, 9, 11))}},

		"lost before its time": {want: "loss: Go0/0 worker 0 op 1 (Lock, a) was told of its loss at 1000000000, 2s before", acquisitions: list{told(sec, 3*sec)}},
		"lost near a fault":    {acquisitions: list{told(sec, 3*sec)}, troubles: []Trouble{{From: 5, To: 9}}},
		"lost at its time":     {acquisitions: list{told(3*sec, 3*sec)}},

		"readers together":             {model: shared, acquisitions: list{read(stay("a", 1, 2, 9)), read(stay("b", 1, 3, 7)), read(stay("c", 1, 4, 8))}},
		"readers of a plain lock":      {acquisitions: list{read(stay("a", 1, 2, 9)), read(stay("b", 1, 3, 7))}, want: "exclusion"},
		"a writer beside a reader":     {model: shared, acquisitions: list{read(stay("a", 1, 2, 9)), stay("b", 1, 3, 7)}, want: "exclusion: lock 0 was two"},
		"a reader beside a writer":     {model: shared, acquisitions: list{stay("a", 1, 2, 9), read(stay("b", 1, 3, 7))}, want: "exclusion"},
		"two writers":                  {model: shared, acquisitions: list{stay("a", 1, 2, 9), stay("b", 1, 3, 7)}, want: "exclusion"},
		"a writer that reads":          {model: shared, acquisitions: list{stay("a", 1, 2, 9), read(stay("a", 3, 4, 7))}},
		"it reads on, with another":    {model: shared, acquisitions: list{stay("a", 1, 2, 6), read(stay("a", 3, 4, 9)), read(stay("b", 1, 7, 8))}},
		"it reads on, beside a writer": {model: shared, acquisitions: list{stay("a", 1, 2, 6), read(stay("a", 3, 4, 9)), stay("b", 1, 7, 8)}, want: "exclusion"},
		"a reader told of its loss": {model: shared, acquisitions: list{
			change(read(stay("a", 1, 2, 9)), func(a *history.Acquisition) { a.Lost = 5 }), stay("b", 1, 6, 9)}},
		"a writer late behind the last reader": {model: shared, want: "lock 0 was free at 11", sightings: []history.Sighting{shown(5, sec, "b:1"), shown(sec, sec, "b:1")},
			acquisitions: list{read(stay("a", 1, 2, 9)), read(stay("b", 1, 3, 10)), stay("c", 4, 11+2*sec, 12+2*sec)}},
		"a writer late behind the last reader, and what a JVM kept": {model: shared, sightings: []history.Sighting{shown(sec, sec, "j:40")},
			acquisitions: list{javas(read(stay("j:t1", 1, 2, 3))), read(stay("b", 1, 3, 10)), stay("c", 4, 11+2*sec, 12+2*sec)}},
		"a writer late behind the last reader, where the server shows nothing": {model: shared,
			acquisitions: list{read(stay("b", 1, 3, 10)), stay("c", 4, 11+2*sec, 12+2*sec)}},
		"a writer late behind a writer, beside what a JVM kept": {model: shared, want: "lock 0 was free at 11", sightings: []history.Sighting{shown(sec, sec, "j:40")},
			acquisitions: list{javas(stay("j:t1", 1, 2, 3)), stay("b", 1, 4, 10), stay("c", 4, 11+2*sec, 12+2*sec)}},
		"a writer behind a reader that stays": {model: shared,
			acquisitions: list{read(stay("a", 1, 2, 9)), read(stay("b", 1, 3, 3*sec)), stay("c", 4, 3*sec+2, 4*sec)}},

		"an owner inside twice":    {model: once, acquisitions: list{stay("a", 1, 2, 9), stay("a", 3, 4, 7)}, want: "exclusion: lock 0 was one owner's twice"},
		"an owner that comes back": {model: once, acquisitions: list{stay("a", 1, 2, 9), stay("a", 11, 12, 13)}},
		"refused as being inside":  {model: once, acquisitions: list{stay("a", 1, 2, 9), again("a", 3, 4, history.Reentered)}},
		"not told that it is inside": {model: once, acquisitions: list{stay("a", 1, 2, 9), again("a", 3, 4, history.Locked)},
			want: "re-entry: Go0/0 worker 0 op 3 (Lock, a) was told that another"},
		"left while it asked":            {model: once, acquisitions: list{stay("a", 1, 2, 5), again("a", 3, 7, history.Locked)}},
		"told that it is inside, behind": {model: once, acquisitions: list{stay("a", 1, 2, 5), again("a", 9, 10, history.Reentered)}, want: "re-entry: Go0/0 worker 0 op 9 (Lock, a) was told at 9 that its owner"},
		"the same of Java":               {model: once, acquisitions: list{stay("a", 1, 2, 5), javas(again("a", 9, 10, history.Reentered))}},
		"perhaps inside, since its unlock was lost": {model: once, acquisitions: list{
			change(stay("a", 1, 2, 5), func(a *history.Acquisition) { a.Outcome = history.Uncertain }), again("a", 9, 10, history.Reentered)}},
		"perhaps inside, since an acquire was lost": {model: once, acquisitions: list{again("a", 1, 2, history.Uncertain), again("a", 9, 10, history.Reentered)}},

		"all permits taken": {model: three, acquisitions: list{taking(2, stay("a", 1, 2, 9)), taking(1, stay("b", 1, 3, 7)), taking(1, stay("c", 4, 8, 9))}},
		"one permit too many": {model: three, want: "exclusion: lock 0 was of more than there are permits", acquisitions: list{
			taking(2, stay("a", 1, 2, 9)), taking(1, stay("b", 1, 3, 7)), taking(1, stay("c", 4, 6, 9))}},
		"several more than are free": {model: three, want: "exclusion", acquisitions: list{taking(2, stay("a", 1, 2, 9)), taking(2, stay("b", 1, 3, 7))}},
		"permits of one that was killed": {model: three, want: "exclusion", acquisitions: list{
			taking(1, stay("a", 1, 2, 90)), taking(1, stay("b", 1, 2, 90)), taking(1, stay("d", 12, 49, 90)),
			change(taking(1, stay("c", 1, 2, 7)), func(a *history.Acquisition) {
				a.Unlock, a.Unlocked, a.Outcome, a.Died, a.Until = 0, 0, "", 10, 50
			})}},
		"one permit of several, late": {model: three, want: "lock 0 was free at 10", acquisitions: list{
			taking(3, stay("a", 1, 2, 9)), taking(1, stay("b", 3, 9+2*sec, 9+3*sec))}},
		"several permits, late": {model: three, acquisitions: list{taking(3, stay("a", 1, 2, 9)), taking(2, stay("b", 3, 9+2*sec, 9+3*sec))}},

		"a member that two have":          {model: several, want: "exclusion: lock 0 was two", acquisitions: list{stay("a", 1, 2, 9), stay("b", 1, 3, 7)}},
		"a member that waits for a round": {model: several, acquisitions: list{stay("a", 1, 2, 9), again("b", 3, 8*sec, history.Locked), stay("c", 4, 9*sec, 10*sec)}},
		"a member that stands": {model: several, want: "standstill: lock 0 was wanted for 10.99", acquisitions: list{
			stay("a", 1, 2, 9), again("b", 3, 8*sec, history.Locked), stay("c", 4, 11*sec, 12*sec)}},
		"a member that stands near a fault": {model: several, troubles: []Trouble{{From: 5, To: 2 * sec}}, acquisitions: list{
			stay("a", 1, 2, 9), again("b", 3, 11*sec, history.Locked)}},
		"a member that nobody wanted meanwhile": {model: several, acquisitions: list{
			stay("a", 1, 2, 9), again("b", 3, 8*sec, history.Locked), stay("c", 9*sec, 11*sec, 12*sec)}},
		"a member that a JVM keeps": {model: several, sightings: []history.Sighting{shown(7*sec, sec, "j:40"), shown(8*sec, sec, "j:40")},
			acquisitions: list{javas(stay("j:t1", 1, 2, 3)), again("b", 3, 11*sec, history.Locked)}},
		"a member that JVM's threads keep in turns": {model: several, want: "standstill", sightings: []history.Sighting{shown(7*sec, sec, "j:40"), shown(8*sec, sec, "j:41")},
			acquisitions: list{javas(stay("j:t1", 1, 2, 3)), again("b", 3, 11*sec, history.Locked)}},

		"tokens rise":            {model: tokens, acquisitions: list{numbered(1, stay("a", 1, 2, 5)), numbered(4, stay("b", 3, 6, 7)), javas(numbered(5, stay("c", 8, 9, 10)))}},
		"a token twice":          {model: tokens, acquisitions: list{numbered(3, stay("a", 1, 2, 5)), numbered(3, stay("b", 6, 7, 8))}, want: "token: lock 0 numbered 3 what it granted after number 3"},
		"a token falls, of Java": {model: tokens, acquisitions: list{numbered(3, stay("a", 1, 2, 5)), javas(numbered(2, stay("b", 6, 7, 8)))}, want: "token: lock 0 numbered 2"},
		"a token falls below one of some time ago": {model: tokens, want: "token: lock 0 numbered 8",
			acquisitions: list{numbered(9, stay("a", 1, 2, 3)), numbered(10, stay("b", 4, 5, 6)), numbered(8, stay("c", 7, 10, 11))}},
		"an older one to whom had asked before, and was inside later": {model: tokens, acquisitions: list{numbered(3, stay("a", 1, 2, 5)), numbered(2, stay("b", 1, 7, 8))}, want: "token"},
		"an older one to whom was told when it was over": {model: tokens, acquisitions: list{numbered(3, stay("a", 1, 6, 9)),
			change(numbered(2, stay("b", 1, 7, 8)), func(a *history.Acquisition) { a.Until = 5 })}},
		"an older one does not hide a newer": {model: tokens, want: "token: lock 0 numbered 3", acquisitions: list{numbered(3, stay("a", 1, 6, 9)),
			change(numbered(2, stay("b", 1, 7, 8)), func(a *history.Acquisition) { a.Until = 5 }),
			change(numbered(3, stay("c", 10, 11, 12)), func(a *history.Acquisition) { a.Until = 5 })}},
		"a token of 0":              {model: tokens, acquisitions: list{numbered(0, stay("a", 1, 2, 5))}, want: "token: Go0/0 worker 0 op 1 (Lock, a) has 0"},
		"a token of -1, of Java":    {model: tokens, acquisitions: list{javas(numbered(-1, stay("a", 1, 2, 5)))}, want: "token: Java0/0"},
		"no token":                  {model: tokens, acquisitions: list{stay("a", 1, 2, 5)}, want: "token: Go0/0 worker 0 op 1 (Lock, a) has none"},
		"none that Java asked for":  {model: tokens, acquisitions: list{javas(stay("a", 1, 2, 5))}},
		"tokens of a lost database": {model: tokens, voids: flush, acquisitions: list{numbered(3, stay("a", 1, 2, 3)), numbered(1, stay("b", 6, 7, 8)), numbered(2, stay("c", 9, 10, 11))}},
		"a token twice behind it":   {model: tokens, voids: flush, want: "token", acquisitions: list{numbered(3, stay("a", 1, 2, 3)), numbered(1, stay("b", 6, 7, 8)), numbered(1, stay("c", 9, 10, 11))}},
		"counted on either side":    {model: tokens, voids: flush, acquisitions: list{numbered(3, stay("a", 1, 2, 3)), numbered(1, stay("b", 3, 7, 8)), numbered(1, stay("c", 9, 10, 11))}},
		"tokens of a forced lock":   {model: tokens, voids: forced, want: "token", acquisitions: list{numbered(3, stay("a", 1, 2, 3)), numbered(1, stay("b", 6, 7, 8))}},

		"in their order": {model: order, queues: []history.Queue{queue(10, 90, "a", "b")},
			acquisitions: list{waits("a", 1, 20, 30), waits("b", 1, 40, 50), waits("c", 11, 60, 70)}},
		"overtaken by the next": {model: order, queues: []history.Queue{queue(10, 90, "a", "b")}, want: "order: lock 0 was another's, 20ns before",
			acquisitions: list{waits("a", 1, 40, 50), waits("b", 1, 20, 30)}},
		"overtaken by one that came later": {model: order, queues: []history.Queue{queue(10, 90, "a")}, want: "order",
			acquisitions: list{waits("a", 1, 40, 50), waits("c", 11, 20, 30)}},
		"overtaken once, and seen twice": {model: order, queues: []history.Queue{queue(10, 90, "a", "b"), queue(12, 88, "a", "b")}, want: "order",
			acquisitions: list{waits("a", 1, 40, 50), waits("b", 1, 20, 30)}},
		"one that was not seen, and may have been before": {model: order, queues: []history.Queue{queue(10, 90, "a")},
			acquisitions: list{waits("a", 1, 40, 50), waits("c", 9, 20, 30)}},
		"behind another, in a queue of its last call": {model: order, queues: []history.Queue{queue(10, 90, "a", "b")},
			acquisitions: list{waits("b", 1, 20, 30), waits("a", 31, 40, 50)}},
		"its time was over": {model: order, queues: []history.Queue{queue(10, -95, "a", "b")},
			acquisitions: list{waits("a", 1, 40, 50), waits("b", 1, 20, 30)}},
		"its time was over, when that of those before is taken off": {model: order, queues: []history.Queue{queue(10, -95, "x", "a", "b")},
			acquisitions: list{waits("a", 1, 40, 50), waits("b", 1, 20, 30)}},
		"the queue was lost": {model: order, queues: []history.Queue{queue(10, 90, "a", "b")}, voids: []history.Void{{From: 12, To: 13, Lock: history.Every, Why: "FLUSHALL"}},
			acquisitions: list{waits("a", 1, 40, 50), waits("b", 1, 20, 30)}},
		"Java's, near a fault": {model: order, queues: []history.Queue{queue(10, 90, "a", "b")}, troubles: []Trouble{{From: 5, To: 15}},
			acquisitions: list{javas(waits("a", 1, 40, 50)), waits("b", 1, 20, 30)}},
		"Java's, in calm": {model: order, queues: []history.Queue{queue(10, 90, "a", "b")}, want: "order",
			acquisitions: list{javas(waits("a", 1, 40, 50)), waits("b", 1, 20, 30)}},
		"Go's, near a fault": {model: order, queues: []history.Queue{queue(10, 90, "a", "b")}, troubles: []Trouble{{From: 5, To: 15}}, want: "order",
			acquisitions: list{waits("a", 1, 40, 50), waits("b", 1, 20, 30)}},
		"of an owner that comes back": {model: order, queues: []history.Queue{queue(10, 90, "a", "b")},
			acquisitions: list{waits("a", 1, 40, 50), change(waits("b", 1, 20, 30), func(b *history.Acquisition) { b.Asked = true })}},
		"back in a place that its last call had left": {model: order, queues: []history.Queue{queue(10, 90, "c", "a")},
			acquisitions: list{waits("a", 1, 40, 50), javas(waits("c", 18, 20, 30))}},
		"Java's, inside by what it took for lost": {model: order, queues: []history.Queue{queue(10, 90, "a")}, sightings: []history.Sighting{shown(17, 2*sec, "c")},
			acquisitions: list{waits("a", 1, 40, 50), javas(again("c", 11, 16, history.Uncertain)), javas(waits("c", 18, 20, 30))}},
		"Java's, inside by what it has just released": {model: order, queues: []history.Queue{queue(10, 90, "a")}, sightings: []history.Sighting{shown(14, 2*sec, "c")}, want: "order",
			acquisitions: list{waits("a", 1, 40, 50), javas(waits("c", 2, 3, 16)), javas(waits("c", 18, 20, 30))}},
		"told when it was over": {model: order, queues: []history.Queue{queue(10, 90, "a", "b")},
			acquisitions: list{change(waits("a", 1, 40, 50), func(a *history.Acquisition) { a.Until = 15 }), waits("b", 1, 20, 30)}},
		"late, though next in the queue": {model: order, queues: []history.Queue{queue(5, 2*sec, "b", "c")}, want: "lock 0 was free at 10",
			acquisitions: list{waits("a", 1, 2, 9), waits("b", 3, 9+2*sec, 9+3*sec)}},
		"late behind a place that nobody has": {model: order, queues: []history.Queue{queue(5, 2*sec, "x", "b")},
			acquisitions: list{waits("a", 1, 2, 9), waits("b", 3, 9+2*sec, 9+3*sec)}},
		"late since its time was over": {model: order, queues: []history.Queue{queue(5, sec/2, "b")},
			acquisitions: list{waits("a", 1, 2, 9), waits("b", 3, 9+2*sec, 9+3*sec)}},
		"of a plain lock": {queues: []history.Queue{queue(10, 90, "a", "b")}, acquisitions: list{waits("a", 1, 40, 50), waits("b", 1, 20, 30)}},
	} {
		b := bounds
		b.Voided, b.Place, b.Stand = 1, time.Duration(place), 10*time.Second
		for _, v := range verdicts(c.model, b, history.Chapter{Acquisitions: c.acquisitions, Voids: c.voids, Queues: c.queues, Sightings: c.sightings}, c.troubles) {
			v.expect(t, name, c.want)
		}
	}
}

// Rules count what they judge, so that a run shows which rule had nothing to judge.
func TestWhatIsJudgedIsCounted(t *testing.T) {
	for name, c := range map[string]struct {
		model Model
		all   history.Chapter
		what  string
		want  int
	}{
		"readers":  {shared, history.Chapter{Acquisitions: []*history.Acquisition{read(stay("a", 1, 2, 9)), read(stay("b", 1, 3, 7)), stay("b", 8, 10, 11)}}, "readers", 1},
		"refusals": {once, history.Chapter{Acquisitions: []*history.Acquisition{stay("a", 1, 2, 9), again("a", 3, 4, history.Reentered)}}, "refused", 1},
		"members":  {several, history.Chapter{Acquisitions: []*history.Acquisition{stay("a", 1, 2, 9), stay("b", 3, 20, 21)}}, "member", 2},
		"permits":  {three, history.Chapter{Acquisitions: []*history.Acquisition{taking(2, stay("a", 1, 2, 9)), taking(1, stay("b", 1, 3, 7))}}, "permits", 1},
		"tokens":   {tokens, history.Chapter{Acquisitions: []*history.Acquisition{numbered(1, stay("a", 1, 2, 9)), numbered(2, stay("b", 3, 10, 11))}}, "tokens", 2},
		"waiters": {order, history.Chapter{Queues: []history.Queue{queue(10, 90, "a", "b", "c"), queue(12, 90, "a", "b", "c")},
			Acquisitions: []*history.Acquisition{queued(stay("a", 1, 20, 30))}}, "waiters", 2},
	} {
		v := verdicts(c.model, bounds, c.all, nil)[0]
		n := 0
		for what, times := range v.Judged {
			if strings.Contains(what, c.what) {
				n += times
			}
		}
		if n != c.want {
			t.Errorf("%s: %v, want %d", name, v.Judged, c.want)
		}
	}
}
