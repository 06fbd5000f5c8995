package wire

import (
	"flag"
	"slices"
	"testing"

	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/rlock"
)

var full = flag.Bool("full", false, "play what a plain run leaves out of several servers: a master with replicas, and more scenarios")

// beforeShards is the newest Redisson that knows no messages to a shard.
const beforeShards = "3.21.3"

// brief are the scenarios of a plain run, by one or two JVMs.
var brief = []string{
	"contended try", "wait ended by an unlock", "final unlock", "partial unlock", "unlock by a stranger",
	"force unlock of a locked one", "questions about a locked one", "renewal of one",
}

// quietly are those of brief that need no JVM of their own.
var quietly = brief[:len(brief)-1]

func shown(scenarios []string) []string {
	if *full {
		return PlaceNames()
	}
	return scenarios
}

func TestGoSaysOnTheWireWhatJavaSaysToReplicas(t *testing.T) {
	t.Parallel()
	if !*full {
		t.Skip("a plain run plays it behind Sentinels")
	}
	place := StartPlace(t, Replicated)
	for _, version := range []string{javapeer.Newest, beforeShards} {
		t.Run(version, func(t *testing.T) { compareAll(t, NewAt(t, version, place), PlaceNames()) })
	}
}

func TestGoSaysOnTheWireWhatJavaSaysBehindSentinels(t *testing.T) {
	t.Parallel()
	place := StartPlace(t, Sentinel)
	t.Run(javapeer.Newest, func(t *testing.T) { compareAll(t, NewAt(t, javapeer.Newest, place), shown(brief)) })
	if *full {
		t.Run(beforeShards, func(t *testing.T) { compareAll(t, NewAt(t, beforeShards, place), PlaceNames()) })
	}
}

// TestGoSaysOnTheWireWhatJavaSaysInACluster: Go's default publishes by both commands; for a known Redisson by one.
func TestGoSaysOnTheWireWhatJavaSaysInACluster(t *testing.T) {
	t.Parallel()
	place := StartPlace(t, Cluster)
	for version, as := range map[string]rlock.Publish{javapeer.Newest: rlock.PublishSharded, beforeShards: rlock.PublishPlain} {
		t.Run(version, func(t *testing.T) {
			p := NewAt(t, version, place)
			alike := shown(quietly)
			if version == javapeer.Newest {
				compareAll(t, p, shown(brief))
				needed(t, p, probesWait, loadsFirst)
				if place.sharded {
					needed(t, p, hearsBoth, publishesBoth)
				}
				alike = []string{"final unlock", "partial unlock", "force unlock of a locked one"}
			}
			p = p.Publishing(as)
			compareAll(t, p, alike)
			if p.used[publishesBoth.name] {
				t.Error("what publishes by one command needed the justification of two")
			}
			if version == javapeer.Newest && place.sharded {
				t.Run("what is wrong is caught", func(t *testing.T) { catches(t, p) })
			}
		})
	}
}

// needed fails t for each of these justifications that justified nothing. oneWaitABatch is never among them: whether two
// scripts are sent together, and so have one WAIT, depends on timing.
func needed(t *testing.T, p *Proof, rules ...rule) {
	t.Helper()
	for _, r := range rules {
		if !p.used[r.name] {
			t.Errorf("the justification %q has nothing to justify", r.name)
		}
	}
}

// catches checks that a publish command and a WAIT that only one side has are reported.
func catches(t *testing.T, p *Proof) {
	sc := scenarioNamed(t, "final unlock")
	b := p.benches.on(t, sc)
	java := b.playJava(sc)
	compared := func(golang trace, publish rlock.Publish) string {
		var rules []rule
		for _, j := range justifiedFor(sc, setting{javapeer.Newest, Cluster, publish}) {
			rules = append(rules, j.rule)
		}
		report, _ := compare(java, golang, rules)
		return report
	}
	if report := compared(b.playGo(sc, rlock.PublishPlain), rlock.PublishPlain); report == "" {
		t.Error("another publish command is not caught")
	}
	right := b.playGo(sc, rlock.PublishSharded)
	if report := compared(right, rlock.PublishSharded); report != "" {
		t.Errorf("what is right is caught:\n%s", report)
	}
	for i := range right.steps {
		wrong := right.clone()
		wrong.steps[i].wait = ""
		if i == 1 && compared(wrong, rlock.PublishSharded) == "" {
			t.Error("a script without a WAIT is not caught")
		}
	}
	if slices.IndexFunc(right.steps, func(s step) bool { return s.wait == "WAIT 1 1000 → 1" }) < 0 {
		t.Errorf("no script is waited for:\n%s", right)
	}
}
