package wire

import (
	"slices"
	"strconv"
	"strings"

	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/rlock"
)

// rule undoes one intended difference.
type rule struct {
	name string
	undo func(java, golang *trace) bool // false if there was nothing to undo
}

// justification lets one rule apply to some scenarios, or to some releases of Redisson, and to no others.
type justification struct {
	scenarios []string        // each must have something to undo; nil: all, of which some must
	kinds     []javapeer.Kind // of the scenarios' locks; nil: all
	rule      rule
	reason    string
	from, to  string // its releases: from the first on, before the second; empty: no bound

	topologies []Topology      // where; nil: everywhere
	publish    []rlock.Publish // of Go's, in a cluster; nil: any
}

// setting is the release with which a scenario is played, and where.
type setting struct {
	version  string
	topology Topology // empty for one server
	publish  rlock.Publish
}

// covers reports whether it is for a setting and a kind of lock.
func (j justification) covers(s setting, k javapeer.Kind) bool {
	// Releases sort as texts.
	return s.version >= j.from && (j.to == "" || s.version < j.to) && j.of(k) &&
		(j.topologies == nil || slices.Contains(j.topologies, s.topology)) &&
		(j.publish == nil || slices.Contains(j.publish, s.publish))
}

func (j justification) of(k javapeer.Kind) bool { return j.kinds == nil || slices.Contains(j.kinds, k) }

// The kinds that a justification may be for.
var onlyPlain, onlySpin, onlyFenced = []javapeer.Kind{javapeer.Plain}, []javapeer.Kind{javapeer.Spin}, []javapeer.Kind{javapeer.Fenced}

// announced are the kinds that publish their releases.
var announced = []javapeer.Kind{javapeer.Plain, javapeer.Fenced, javapeer.NonReentrant}

var onlyNonReentrant = []javapeer.Kind{javapeer.NonReentrant}

// reentrant are those whose owner may enter twice.
var reentrant = []javapeer.Kind{javapeer.Plain, javapeer.Spin, javapeer.Fenced}

// justified lists every difference that may occur, and must. Those of single scenarios come last, since they compare what
// the others have made alike.
var justified = []justification{
	{
		rule:   readsAgain,
		reason: "Redisson's renewal ends with the new lease; Go's reads the lock once more, so that the server tells when somebody else changes it.",
	},
	{
		rule: probesWait, topologies: Topologies, kinds: onlyPlain, from: "4.0",
		reason: "Redisson tries once for each client whether the server knows WAIT and WAITAOF; Go learns it from the answer to its first WAIT.",
	},
	{
		rule: loadsFirst, topologies: Topologies, kinds: onlyPlain, from: "3.46",
		reason: "Redisson loads a script before its first use where it sends WAIT; Go calls it, and loads it when the server does not know it.",
	},
	{
		rule: loadsForWait, topologies: Topologies, kinds: onlyPlain, to: "3.46",
		reason: "Redisson sent scripts as text; Go loads a script before its first use on a connection where it sends WAIT.",
	},
	{
		rule: oneWaitABatch, topologies: Topologies, kinds: onlyPlain,
		reason: "Redisson sends a WAIT behind each script; Go one behind the scripts that travel together, which is for all of them.",
	},
	{
		rule: hearsBoth, topologies: []Topology{Cluster},
		reason: "Redisson subscribes by the one command that its releases publish for; Go hears both kinds, since releases of Redisson before 3.22 publish the other.",
	},
	{
		rule: publishesBoth, topologies: []Topology{Cluster}, publish: []rlock.Publish{rlock.PublishBoth},
		reason: "Redisson publishes by SPUBLISH from 3.22 on and by PUBLISH before, and wakes its like; Go's default does both in one script and wakes all.",
	},
	{
		rule:   byText,
		reason: "Redisson sent scripts as text with EVAL; EVALSHA names the same text by its SHA-1.",
		to:     "3.46",
	},
	{
		rule:   oneByOne,
		reason: "Redisson renewed each lock by a script of its own; a batch makes the same calls for each lock.",
		to:     "3.44",
	},
	{
		rule:   noLatch,
		reason: "Redisson's unlock had no latch; ours keeps one until the DEL behind it, and nobody else looks at it.",
		to:     "3.24",
	},
	{
		rule: publishFixed, kinds: announced,
		reason: "Redisson's scripts published by PUBLISH without being told; the message and its channel are the same.",
		to:     "3.22",
	},
	{
		rule: otherLockText, kinds: onlyPlain,
		reason: "Redisson's lock script had two branches where there is one now; calls and answers are the same.",
		to:     "3.19",
	},
	{
		rule: firstBySetting, kinds: onlyPlain,
		reason: "Redisson's first acquire set the count to 1 by hset; hincrby leaves the same.",
		to:     "3.12.3",
	},
	{
		rule: rule{"another text of the spin lock's lock script", otherLockText.undo}, kinds: onlySpin,
		reason: "Redisson's spin lock has kept the lock script with two branches; Go shares that of its plain lock. Calls and answers are the same.",
	},
	{
		rule: tokenAlone, kinds: onlyFenced,
		reason: "Redisson's fenced lock has two scripts, of which one answers no token and the other -1 beside it; Go's one answers a grant's token and nothing else. The calls are the same.",
	},
	{
		rule: ownersStatus, kinds: onlyNonReentrant,
		reason: "The script of Redisson's non-reentrant lock answers its own owner an error; Go's the same text as a status, since the server's errors are for what went wrong.",
	},
	{
		rule:   deletesAnother,
		reason: "Redisson 3.52 deletes a key named after its client instead of the latch, which stays until it expires.",
		from:   "3.52", to: "4.0",
	},
	{
		scenarios: []string{"first use of each script", "force unlock of a locked one", "force unlock of an unlocked one"},
		rule:      asksTheType,
		reason:    "Go asks for the key's TYPE first, so that a key which is no lock is not deleted.",
	},
	{
		scenarios: []string{"first use of each script", "force unlock of a locked one", "force unlock of an unlocked one"},
		rule:      looksForAGroup,
		reason:    "Redisson's script deletes whatever has the name; Go's looks at a field first, so that a group's multi-lock is not deleted.",
	},
	{
		kinds:     reentrant,
		scenarios: []string{"re-entry with a shorter lease"},
		rule:      keepsTheLonger("lock"),
		reason:    "Java shortens the outer lease to the inner one; Go passes what the outer one still has.",
	},
	{
		kinds:     reentrant,
		scenarios: []string{"partial unlock of a fixed lease"},
		rule:      keepsTheLonger("unlock"),
		reason:    "Java passes its lock object's lease, not the hold's; Go passes what the hold that is left still has.",
	},
	{
		scenarios: []string{"unlock by a stranger"},
		rule:      asksTheTTL,
		reason:    "UnlockAs does not know the owner's lease, so it asks for the TTL in order not to shorten it.",
	},
}

// justifiedFor is what applies to a scenario in a setting.
func justifiedFor(sc scenario, s setting) (all []justification) {
	for _, j := range justified {
		if j.covers(s, sc.kind) && (j.scenarios == nil || slices.Contains(j.scenarios, untitled(sc.name))) {
			all = append(all, j)
		}
	}
	return all
}

var asksTheType = question("TYPE", "force", "status hash", "status none")

// looksForAGroup removes the call by which a forced unlock knows the multi-lock of a group.
var looksForAGroup = rule{"HRANDFIELD in force", func(_, golang *trace) (found bool) {
	for i := range golang.steps {
		s := &golang.steps[i]
		if s.role == "force" && len(s.inside) > 0 && s.inside[0] == "hrandfield "+s.name {
			s.inside, found = s.inside[1:], true
		}
	}
	return found
}}

var asksTheTTL = question("PTTL", "unlock", "int ≤"+strconv.FormatInt(quiet.Milliseconds(), 10))

// question removes one query that Go sends about a key right before a script about it.
func question(asked, before string, answers ...string) rule {
	return rule{asked + " before " + before, func(_, golang *trace) bool {
		for i, s := range golang.steps[:max(0, len(golang.steps)-1)] {
			next := golang.steps[i+1]
			if s.role == asked && s.head == asked+" "+s.name && slices.Contains(answers, s.reply) &&
				next.role == before && next.name == s.name {
				golang.steps = slices.Delete(golang.steps, i, i+1)
				return true
			}
		}
		return false
	}}
}

// keepsTheLonger replaces the longer lease that Go passes to a script, and the TTL that the key is left with, by Java's
// lease. Go passes what is left of the outer hold's fixed lease.
func keepsTheLonger(role string) rule {
	return rule{"Go keeps the longer lease in " + role, func(java, golang *trace) bool {
		if len(java.steps) != len(golang.steps) {
			return false
		}
		for i := range golang.steps {
			j, g := java.steps[i], &golang.steps[i]
			ms, err := strconv.ParseInt(g.lease, 10, 64)
			if g.role != role || j.role != role || j.lease == g.lease || err != nil ||
				ms > long.Milliseconds() || ms < (long-patience).Milliseconds() {
				continue
			}
			g.head = strings.Replace(g.head, " "+g.lease+" OWNER", " "+j.lease+" OWNER", 1)
			for k, call := range g.inside {
				if call == "pexpire "+g.name+" "+g.lease {
					g.inside[k] = "pexpire " + g.name + " " + j.lease
				}
			}
			for k, left := range golang.keys {
				if rest, ok := strings.CutSuffix(left, " ttl "+round(g.lease)); ok && strings.HasPrefix(left, g.name+" ") {
					golang.keys[k] = rest + " ttl " + round(j.lease)
				}
			}
			return true
		}
		return false
	}}
}

func round(lease string) string {
	ms, err := strconv.ParseInt(lease, 10, 64)
	if err != nil {
		return lease
	}
	return rounded(ms, shortest.Milliseconds())
}
