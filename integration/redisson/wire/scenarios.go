package wire

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/integration/redisson/alike"
)

// scenario is one thing that both sides do with a lock. A side returns errUntimely to be played again.
type scenario struct {
	name     string
	kind     javapeer.Kind
	watchdog time.Duration // 0 is quiet
	firstUse bool          // the server knows no script
	several  bool          // it is about locks that are renewed together
	lock     string        // the lock's name, else lockName

	script string                               // what both do, see player.run
	java   func(s *javaSide, name string) error // what Java does otherwise
	before func(s *goSide, name string)         // what Go does first
}

// lockName is a lock's name unless the scenario is about names. All names that begin with taggedName are in one slot.
const lockName, taggedName = "order:17", "{order}:17"

func (sc scenario) key() string {
	if sc.lock == "" {
		return lockName
	}
	return sc.lock
}

func (sc scenario) lease() time.Duration {
	if sc.watchdog == 0 {
		return quiet
	}
	return sc.watchdog
}

const (
	// quiet is a watchdog timeout so long that no recording sees a renewal: holds that Redisson keeps from one scenario are
	// not renewed in the next.
	quiet = 10 * time.Minute
	// byDefault is the default of both sides.
	byDefault = 30 * time.Second
	// ticking is short enough to see renewals, and long enough for a machine that stalls for a while.
	ticking = 3 * time.Second
	// long is a fixed lease, 1m in scripts.
	long = time.Minute
)

// plain are the scenarios of a plain lock.
var plain = slices.Concat([]scenario{
	{name: "first use of each script", watchdog: byDefault, firstUse: true, script: "a lock; a unlock; settle; a forceunlock = false"},
	{name: "first acquire", script: "a lock"},
	{name: "first acquire, by a try", script: "a trylock = true"},
	{name: "re-entry", script: "a lock; a lock; a lock"},
	{name: "re-entry with a shorter lease", watchdog: byDefault, script: "a lock 1m; a lock 20s"},
	{name: "contended try", script: "a lock; b trylock = false"},
	{name: "fixed lease", script: "owner a; a lock 1m; a lock@-2 12345ms"},

	{name: "timed try that fails", script: "a lock; b trylockfor 1s = false; settle; waited"},
	{name: "wait ended by an unlock", script: waitEnded},
	{name: "timed wait ended by an unlock", script: "a lock; b& trylockfor 20s 1m; a unlock; b ends = true; settle"},
	{name: "wait ended by expiry", script: "a lock 1s; b lock; settle; waited"},

	{name: "final unlock", script: "a lock; a unlock; settle"},
	{name: "final unlock of a fixed lease", script: "a lock 1m; a unlock; settle"},
	{name: "partial unlock", script: "a lock; a lock; a unlock; settle"},
	{name: "partial unlock of a fixed lease", watchdog: byDefault, script: "a lock 1m; a lock 1m; a unlock; settle"},
	{name: "unlock by a stranger", script: "a lock; b unlock = not held; settle"},
	{name: "unlock of a lock that was lost", script: "a lock; lose ~; a unlock = not held; settle"},
	{name: "force unlock of a locked one", script: "a lock; b forceunlock = true"},
	{name: "force unlock of an unlocked one", script: "a forceunlock = false"},

	{name: "renewal of one", watchdog: ticking, firstUse: true, script: "a lock; leave ~; renewed 1 ~"},
	renewalOf(5, 2, ticking, "renewal of five, one of them lost"),
	renewalOf(101, -1, byDefault, "renewal of a hundred and one"),

	{name: "questions about a locked one", script: "a lock; a lock; a islocked = true; a isheld = true; b isheld = false; a holdcount = 2; a remain"},
	{name: "questions about an unlocked one", script: "owner a; a islocked = false; a isheld = false; b isheld = false; a holdcount = 0; a remain = -2"},
}, naming())

const waitEnded = "a lock; b& lock; a unlock; b ends; settle"

// naming has a wait, which uses key, channel and latch, for each sort of name that is encoded in its own way.
func naming() (all []scenario) {
	for _, n := range []string{"a{b}c", "{a}b", "a{b", "a}b", "{}", "a b  c", "замок 锁 🔒", "a\r\nb", "\"a\\'\t\x00%25:"} {
		all = append(all, scenario{name: fmt.Sprintf("name %q", n), lock: n, script: waitEnded})
	}
	return all
}

// once are the scenarios of every kind of lock, also of those whose owner enters once; again adds those of reentrant locks.
var (
	once = []string{
		"first use of each script", "first acquire", "first acquire, by a try", "contended try",
		"timed try that fails", "wait ended by an unlock", "timed wait ended by an unlock", "wait ended by expiry",
		"final unlock", "final unlock of a fixed lease",
		"unlock by a stranger", "unlock of a lock that was lost", "force unlock of a locked one", "force unlock of an unlocked one",
		"renewal of one", "questions about an unlocked one", `name "{a}b"`,
	}
	again = slices.Concat(once, []string{"re-entry", "re-entry with a shorter lease", "fixed lease", "partial unlock",
		"partial unlock of a fixed lease", "questions about a locked one"})
)

// spinning are the scenarios of a spin lock, which are a plain lock's.
var spinning = ofKind(javapeer.Spin, again...)

// fenced are the scenarios of a fenced lock: a plain lock's, and tokens.
var fenced = slices.Concat(ofKind(javapeer.Fenced, again...), []scenario{
	{name: "fenced: tokens of lock and re-entry", kind: javapeer.Fenced, script: "a locktoken = 1; a locktoken = 2; a locktoken = 3; a token = 3"},
	{name: "fenced: token of no grant", kind: javapeer.Fenced, script: "a token = 0; a lock; b trytokenfor 0s 1m = null; b token = 1"},
	{name: "fenced: wait for a token", kind: javapeer.Fenced, java: javaWaitsForAToken, script: waitEnded},
})

// nonReentrant are the scenarios of a non-reentrant lock: a plain lock's that hold once, and the refusal.
var nonReentrant = slices.Concat(ofKind(javapeer.NonReentrant, once...), []scenario{{
	name: "nonreentrant: re-entry", kind: javapeer.NonReentrant,
	script: "a lock; a lock = reentered; a trylock = reentered; a trylockfor 20s = reentered",
}})

var scenarios = slices.Concat(plain, spinning, fenced, nonReentrant)

// ofKind returns scenarios of the plain lock for another kind.
func ofKind(k javapeer.Kind, names ...string) (all []scenario) {
	for _, name := range names {
		i := slices.IndexFunc(plain, func(sc scenario) bool { return sc.name == name })
		if i < 0 {
			panic(fmt.Sprintf("wire: a plain lock has no scenario %q", name))
		}
		sc := plain[i]
		sc.name, sc.kind = titled(k, name), k
		all = append(all, sc)
	}
	return all
}

// titled is the name of a scenario, or the role of a script, with its kind unless that is plain.
func titled(k javapeer.Kind, name string) string {
	if k == javapeer.Plain {
		return name
	}
	return string(k) + ": " + name
}

// untitled is the name without its kind.
func untitled(name string) string {
	_, own, found := strings.Cut(name, ": ")
	if !found {
		return name
	}
	return own
}

// renewalOf acquires locks, and one more with a fixed lease, has one lost before the first tick (-1: none), and waits for
// ticks: for two if one is lost, to show whether that one is renewed again.
func renewalOf(count, lost int, watchdog time.Duration, name string) scenario {
	var taken, kept []string
	for i := range count {
		lock := fmt.Sprintf("-%03d", i)
		taken = append(taken, lock)
		if i != lost {
			kept = append(kept, lock)
		}
	}
	script := "owner a; a lock@" + strings.Join(taken, "; a lock@") + "; leave " + strings.Join(taken, " ") + "; a lock@-fixed 10m; "
	if lost >= 0 {
		script += "lose " + taken[lost] + "; early " + strings.Join(taken, " ") + "; renewed 2 " + strings.Join(kept, " ")
	} else {
		script += "early " + strings.Join(taken, " ") + "; renewed 1 " + strings.Join(kept, " ")
	}
	return scenario{name: name, watchdog: watchdog, several: true, script: script}
}

// player is a side that plays a scenario's script.
type player struct {
	*rig
	side    alike.Side
	name    string
	lenient bool                   // outcomes do not matter
	parked  func(who string) error // waits until a refused caller is parked
	left    []string               // locks that a releases after the recording
	begun   map[string]chan result
}

type result struct {
	said string
	err  error
}

// run plays calls separated by semicolons, like those of [alike.Play]: who, method, arguments, and after = the wanted
// answer. b& waits, and the next call begins once it waits; its end is b ends. There are also
//
//	settle        waits until nothing is pending
//	waited        a waiter was refused, and refused again, else it is played again
//	owner a       a acts as one owner in Go, whatever it holds
//	a lock@-2     the lock whose name ends with -2; ~ is the lock itself in the calls below
//	lose -2       the key is deleted
//	leave -2      Java releases the lock after the recording, since its watchdog would renew it in the next scenario
//	early -2 -3   these were not renewed yet, else it is played again
//	renewed 1 -2  waits until these were renewed once
func (p *player) run(script string) error {
	p.T.Helper()
	p.begun = map[string]chan result{}
	for call := range strings.SplitSeq(script, ";") {
		call, want, _ := strings.Cut(strings.TrimSpace(call), " = ")
		words := strings.Fields(call)
		switch words[0] {
		case "settle":
			p.settle()
			continue
		case "waited":
			if err := p.waited(p.name); err != nil {
				return err
			}
			continue
		case "owner":
			if golang, is := p.side.(*alike.Go); is {
				golang.As(words[1], golang.Client.NewOwner())
			}
			continue
		case "lose":
			p.Do("DEL", p.names(words[1:])[0])
			continue
		case "leave":
			p.left = p.names(words[1:])
			continue
		case "early":
			if err := p.early(p.names(words[1:])...); err != nil {
				return err
			}
			continue
		case "renewed":
			n, _ := strconv.Atoi(words[1])
			p.renewed(n, p.names(words[2:])...)
			continue
		}
		who := words[0]
		method, of, _ := strings.Cut(words[1], "@")
		ctx := p.ctx()
		do := func() result {
			said, err := p.side.Do(ctx, who, p.kind, p.name+of, method, alike.Args(words[2:])...)
			return result{said, err}
		}
		var got result
		if name, waits := strings.CutSuffix(who, "&"); waits {
			who = name
			ended := make(chan result, 1)
			p.begun[who] = ended
			go func() { ended <- do() }()
			p.await("a waiter", func(all []faultproxy.Exchange) bool { return p.rig.waits(all, p.name) })
			if err := p.parked(who); err != nil {
				p.T.Fatal(err)
			}
			continue
		}
		if method == "ends" {
			got = <-p.begun[who]
		} else {
			got = do()
		}
		if p.lenient {
			continue
		}
		refused := want == "" && (got.said == "false" || got.said == "not held" || got.said == "reentered")
		if got.err != nil || refused || want != "" && got.said != want {
			p.T.Fatalf("%s: %q, %v; want %q", call, got.said, got.err, want)
		}
	}
	return nil
}

// names returns the names of locks by how they end.
func (p *player) names(ends []string) (all []string) {
	for _, end := range ends {
		all = append(all, p.name+strings.TrimPrefix(end, "~"))
	}
	return all
}
