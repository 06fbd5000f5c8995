package topology

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/redisconn"
)

var errDown = errors.New("connection refused")

func TestNewestConfigurationOfTheMasterCounts(t *testing.T) {
	t.Parallel()
	now := time.Now()
	fresh := choice{}
	at3 := choice{master: called("b"), epoch: 3, seen: now.Add(-time.Second)}
	at3Long := choice{master: called("b"), epoch: 3, seen: now.Add(-2 * seenFor)}
	left := choice{epoch: 3, seen: now, left: called("b"), leftEpoch: 3, leftAt: now.Add(-time.Second)}
	leftLong := choice{epoch: 3, seen: now, left: called("b"), leftEpoch: 3, leftAt: now.Add(-2 * leftFor)}
	say := func(master string, epoch int64) testimony { return testimony{master: master, epoch: epoch} }
	down := testimony{err: errDown}
	leads := func(master string, epoch int64) testimony {
		return testimony{master: master, epoch: epoch, going: true}
	}
	stuck := choice{master: called("a"), epoch: 1, seen: now, going: now.Add(-2 * leftFor)}
	// First x said that b is no longer the master, then y.
	byX := choice{epoch: 3, seen: now, left: called("b"), leftEpoch: 3, leftAt: now.Add(-2 * time.Second), toldAt: now.Add(-2 * time.Second), leftBy: []string{"x"}}
	byBoth := byX
	byBoth.toldAt, byBoth.leftBy = now.Add(-time.Second), []string{"x", "y"}
	says := func(from, master string, ago time.Duration) testimony {
		return testimony{from: from, master: master, epoch: 3, asked: now.Add(-ago)}
	}
	const soon, early, before = time.Millisecond, 1500 * time.Millisecond, 3 * time.Second
	next := testimony{from: "x", master: "c", epoch: 4, asked: now}
	runs := func(master, run string) testimony { return testimony{master: master, epoch: 3, run: run} }
	twice := testimony{master: "a", epoch: 1, id: "x"} // by a name and by an address
	two := choice{master: master{[]string{"b", "B"}, "run"}, epoch: 3, seen: now}
	leftTwo := choice{epoch: 3, seen: now, left: master{[]string{"b"}, "run"}, leftEpoch: 3, leftAt: now.Add(-time.Second)}
	for name, row := range map[string]struct {
		known choice
		said  []testimony
		want  string // empty: no master
	}{
		"all agree":                                     {fresh, []testimony{say("a", 1), say("a", 1), say("a", 1)}, "a"},
		"one is enough":                                 {fresh, []testimony{down, say("a", 1), down}, "a"},
		"none answers":                                  {fresh, []testimony{down, down}, ""},
		"the first to know of a failover":               {fresh, []testimony{say("a", 1), say("a", 1), say("b", 2)}, "b"},
		"of one age: the majority":                      {fresh, []testimony{say("b", 1), say("a", 1), say("a", 1)}, "a"},
		"of one age: the majority, told first":          {fresh, []testimony{say("a", 1), say("a", 1), say("b", 1)}, "a"},
		"of one age: no majority":                       {fresh, []testimony{say("a", 1), say("b", 1)}, ""},
		"of one age: one answers twice":                 {fresh, []testimony{twice, twice, say("b", 1)}, ""},
		"old ones don't vote":                           {fresh, []testimony{say("a", 1), say("a", 1), say("b", 2), say("a", 2), say("b", 2)}, "b"},
		"only those that were away answer":              {at3, []testimony{say("a", 2), say("a", 2), down}, ""},
		"one of them is up to date":                     {at3, []testimony{say("a", 2), say("a", 2), say("b", 3)}, "b"},
		"they were set up anew":                         {at3Long, []testimony{say("a", 0), say("a", 0), down}, "a"},
		"they still name whom one of them left":         {left, []testimony{say("b", 3), say("b", 3), down}, ""},
		"one names the next":                            {left, []testimony{say("b", 3), say("b", 3), say("c", 4)}, "c"},
		"who told takes it back, and most agree":        {byX, []testimony{says("x", "b", soon), says("y", "b", soon), down}, "b"},
		"who told takes it back, alone":                 {byX, []testimony{says("x", "b", soon), down, down}, ""},
		"who told is silent":                            {byX, []testimony{down, says("y", "b", soon), says("z", "b", soon)}, ""},
		"who told names the next":                       {byX, []testimony{next, says("y", "b", soon), says("z", "b", soon)}, "c"},
		"who told was asked before":                     {byX, []testimony{says("x", "b", before), says("y", "b", soon), says("z", "b", soon)}, ""},
		"one of two who told takes it back":             {byBoth, []testimony{says("x", "b", soon), down, says("z", "b", soon)}, ""},
		"both take it back":                             {byBoth, []testimony{says("x", "b", soon), says("y", "b", soon), down}, "b"},
		"both did before the second told":               {byBoth, []testimony{says("x", "b", early), says("y", "b", early), says("z", "b", soon)}, ""},
		"two names of one server":                       {fresh, []testimony{runs("a", "run"), runs("A", "run")}, "a"},
		"two names of one, and another":                 {fresh, []testimony{runs("c", "other"), runs("a", "run"), runs("A", "run")}, "a"},
		"two names: the one that is connected to":       {two, []testimony{runs("B", "run"), runs("B", "run"), runs("b", "run")}, "b"},
		"two names, and it was restarted":               {two, []testimony{runs("b", "run"), runs("B", "next")}, "b"},
		"nobody tells the run id":                       {fresh, []testimony{runs("a", ""), runs("A", "")}, ""},
		"they call by another name whom one left":       {leftTwo, []testimony{runs("B", "run"), runs("B", "run")}, ""},
		"it became the master again":                    {left, []testimony{say("b", 4), say("c", 3)}, "b"},
		"one of them is replacing it":                   {fresh, []testimony{say("a", 1), leads("a", 1), say("a", 1)}, ""},
		"it does not get on with that":                  {stuck, []testimony{say("a", 1), leads("a", 1), say("a", 1)}, "a"},
		"another is known, of whom it does not know":    {fresh, []testimony{say("b", 2), leads("a", 1)}, "b"},
		"the one who told was wrong, and that was long": {leftLong, []testimony{say("b", 3), say("b", 3)}, "b"},
	} {
		t.Run(name, func(t *testing.T) {
			from(row.said)
			best, err := row.known.believes(row.said, len(row.said), now)
			if best.master != row.want || (err == nil) != (row.want != "") {
				t.Errorf("got %q, %v; want %q", best.master, err, row.want)
			}
		})
	}
}

func TestSentinelsSilenceIsForGoodIfItIsForEach(t *testing.T) {
	t.Parallel()
	denied := redis.Error("NOAUTH Authentication required.")
	for name, row := range map[string]struct {
		errs    []error
		forGood bool
	}{
		"nobody knows the name":  {[]error{errUnknownMaster, errUnknownMaster}, true},
		"all want a password":    {[]error{denied, denied}, true},
		"one is down":            {[]error{denied, errDown}, false},
		"one is down, the first": {[]error{errDown, errUnknownMaster}, false},
		"all are down":           {[]error{errDown}, false},
		"nobody was asked":       {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			var said []testimony
			for _, err := range row.errs {
				said = append(said, testimony{err: err})
			}
			err := silence(said)
			if redisconn.Permanent(err) != row.forGood {
				t.Errorf("%v: for good %t", err, !row.forGood)
			}
			for _, one := range row.errs {
				if !errors.Is(err, one) || !strings.Contains(err.Error(), one.Error()) {
					t.Errorf("%v is not in %v", one, err)
				}
			}
		})
	}
}

func TestMasterIsLeftOnce(t *testing.T) {
	t.Parallel()
	now := time.Now()
	var c choice
	if c.leave("x", "a", now).names != nil {
		t.Error("left a master that nobody has named")
	}
	if former := c.believe(testimony{master: "a", epoch: 1}, now); former.names != nil {
		t.Errorf("the first replaces %q", former)
	}
	if c.leave("x", "a", now).addr() != "a" || c.leave("x", "a", now).names != nil {
		t.Error("it is not left once")
	}
	if former := c.believe(testimony{master: "b", epoch: 2}, now); former.names != nil {
		t.Errorf("it was left before, and replaced as %q", former)
	}
	if former := c.believe(testimony{master: "c", epoch: 3}, now); former.addr() != "b" {
		t.Errorf("it replaces %q", former)
	}
}

// called is a master with one name.
func called(name string) master { return master{names: []string{name}} }

func TestMasterIsLeftByAnyOfItsNames(t *testing.T) {
	now := time.Now()
	var c choice
	c.believe(testimony{master: "a", names: []string{"A", "a"}, run: "run"}, now)
	if former := c.believe(testimony{master: "A", names: []string{"A"}, run: "run"}, now); former.names != nil {
		t.Errorf("it is called by another name, and was replaced as %q", former)
	}
	if former := c.leave("x", "a", now); !slices.Equal(former.names, []string{"A", "a"}) {
		t.Errorf("left by one of its names: %q", former)
	}
}

// The Sentinel x has just promoted b. It calls b the master, and lists the former master's replicas.
func TestMasterIsNotItsOwnReplica(t *testing.T) {
	t.Parallel()
	x := testimony{from: "x", master: "b", run: "run", epoch: 4, known: []string{"b", "c"}}
	y := testimony{from: "y", master: "B", run: "run", epoch: 4, known: []string{"a", "c"}}
	best, err := new(choice).believes([]testimony{x, y}, 2, time.Now())
	if want := []string{"c", "a"}; err != nil || !slices.Equal(best.known, want) {
		t.Errorf("its replicas are %q, %v; want %q", best.known, err, want)
	}
}

// The Sentinels list the former master among the replicas of the next one, by whichever of its names.
func TestFormerMasterIsNoReplicaYet(t *testing.T) {
	t.Parallel()
	now := time.Now()
	var c choice
	for i, step := range []struct{ next, others string }{{"a", "a b c"}, {"b", "b c"}, {"c", "a c"}} {
		if i == 2 {
			c.leave("x", "b", now) // before it is asked for
		}
		c.believe(testimony{master: step.next, names: []string{step.next}, epoch: int64(i)}, now)
		if got := strings.Join(c.others([]string{"a", "b", "c"}), " "); got != step.others {
			t.Errorf("%s is the master: the others are %s, want %s", step.next, got, step.others)
		}
	}
}
