package wire

import (
	"slices"
	"strings"
)

// readsAgain: Go reads the lock after the new lease, so that the server reports the key's next change.
var readsAgain = rule{"a read behind each renewal", func(_, golang *trace) (found bool) {
	const read, lease = " after hexists ", " after pexpire "
	for i := range golang.steps {
		s := &golang.steps[i]
		if s.tick == nil {
			continue
		}
		for lock, told := range s.tick.locks {
			if at := strings.LastIndex(told, read); at > strings.LastIndex(told, lease) && strings.Contains(told, lease) {
				s.tick.locks[lock] = told[:at]
				found = true
			}
		}
		s.tick.show(s)
	}
	return found
}}

// ownersStatus turns the status that Go's script returns into Redisson's error.
var ownersStatus = rule{"a non-reentrant lock's owner is refused by a status", func(_, golang *trace) (found bool) {
	for i := range golang.steps {
		if s := &golang.steps[i]; s.role == "lock" && s.reply == "status "+reacquired {
			s.reply, found = "error ERR "+reacquired, true
		}
	}
	return found
}}

// What the two sides do differently where a master has replicas.

// probesWait: Redisson first probes whether the server knows WAIT.
var probesWait = rule{"a probe of WAIT", func(java, _ *trace) bool {
	before := len(java.steps)
	java.steps = slices.DeleteFunc(java.steps, func(s step) bool {
		return s.head == "WAIT 0 0" && strings.HasPrefix(s.reply, "int ") || s.head == "WAITAOF 0 0 0"
	})
	return len(java.steps) < before
}}

// loadsFirst: Redisson loads a script before it calls it, once per server. Go does so before a WAIT, once per connection.
var loadsFirst = rule{"scripts loaded beforehand", func(java, golang *trace) bool {
	golang.steps = dropLoads(golang.steps)
	golang.dropAllLoads()
	return java.dropAllLoads()
}}

// loadsForWait: Go does so with releases of Redisson that never load.
var loadsForWait = rule{"scripts loaded before a WAIT", func(_, golang *trace) bool {
	golang.steps = dropLoads(golang.steps)
	return golang.dropAllLoads()
}}

// dropAllLoads removes all loads of scripts, and reports whether there were any.
func (t *trace) dropAllLoads() bool {
	before := len(t.steps)
	t.steps = slices.DeleteFunc(t.steps, func(s step) bool { return s.role == "SCRIPT LOAD" && s.reply == `bulk "its SHA-1"` })
	return len(t.steps) < before
}

// oneWaitABatch: scripts that Go wrote at once have one WAIT after the last.
var oneWaitABatch = rule{"one WAIT for several scripts", func(java, golang *trace) (found bool) {
	var waits string
	for _, s := range slices.Backward(golang.steps) {
		if s.wait != "" {
			waits = s.wait
		}
	}
	for i, g := range slices.Backward(golang.steps) {
		if g.wait != "" || g.script == nil && g.tick == nil || strings.HasPrefix(g.reply, "error ") {
			continue
		}
		next := slices.IndexFunc(golang.steps[i+1:], func(s step) bool { return s.conn == g.conn && s.script != nil })
		if next < 0 || golang.steps[i+1+next].wait == "" {
			continue
		}
		golang.steps[i].wait = waits
		found = true
	}
	return found
}}

// In a cluster there are two kinds of messages, and a subscriber to one does not hear the other.

// hearsBoth: Go subscribes to both kinds.
var hearsBoth = rule{"subscriptions of both kinds", func(java, golang *trace) (found bool) {
	for _, verb := range []string{"SUBSCRIBE", "UNSUBSCRIBE"} {
		kept, other := verb, "S"+verb
		if java.has(other) {
			kept, other = other, kept
		}
		kind := func(s step) bool { return s.role == other }
		// Go must subscribe to the same channels by both kinds.
		if named(java.steps, kept) != "" && named(golang.steps, kept) == named(golang.steps, other) {
			golang.steps = slices.DeleteFunc(golang.steps, kind)
			found = true
		}
	}
	return found
}}

// publishesBoth: Go's releases publish both kinds.
var publishesBoth = rule{"messages of both kinds", func(java, golang *trace) (found bool) {
	kept, word, other := "publish", "PUBLISH", "spublish"
	if slices.ContainsFunc(java.steps, func(s step) bool { return s.script != nil && slices.Contains(s.script.argv, "SPUBLISH") }) {
		kept, word, other = other, "SPUBLISH", kept
	}
	for i := range golang.steps {
		s := &golang.steps[i]
		if (s.role == "unlock" || s.role == "force") && s.publishOnly(kept, word, other) {
			found = true
		}
	}
	if !found {
		return false
	}
	// Subscribers of either kind heard the message.
	golang.messages = slices.DeleteFunc(golang.messages, func(m string) bool {
		return strings.HasPrefix(m, heardSharded) == (kept == "publish")
	})
	return true
}}

// heardSharded begins a message that was sent to a shard, as a trace shows it.
const heardSharded = `"` + shardedMark

// publishOnly makes a script that publishes by both commands publish by one. It reports false if it was not called like
// that.
func (s *step) publishOnly(kept, word, other string) bool {
	argv := s.script.argv
	switch {
	case s.role == "force" && slices.Equal(argv[1:], []string{"SPUBLISH", "PUBLISH"}):
		argv = []string{argv[0], word}
	case s.role == "unlock" && s.script.latch() != "" && len(argv) == 6 && argv[3] == "SPUBLISH" && argv[5] == "PUBLISH":
		argv = slices.Clone(argv[:5])
		argv[3] = word
	case s.role == "unlock" && s.script.latch() == "" && slices.Equal(argv[3:], []string{"SPUBLISH", "PUBLISH"}):
		argv = argv[:3:3]
		if word == "SPUBLISH" {
			argv = append(argv, word)
		}
	default:
		return false
	}
	message := func(verb string) int {
		return slices.Index(s.inside, verb+" "+channelOf(s.name)+" "+argv[0])
	}
	if i, k := message(other), message(kept); i >= 0 && k >= 0 {
		s.inside = slices.Delete(slices.Clone(s.inside), i, i+1)
	} else if i >= 0 || k >= 0 {
		return false
	}
	s.script.argv = argv
	s.show()
	return true
}

func (t *trace) has(role string) bool {
	return slices.ContainsFunc(t.steps, func(s step) bool { return s.role == role })
}

// named returns the names of all steps of a role, sorted.
func named(steps []step, role string) string {
	var all []string
	for _, s := range steps {
		if s.role == role {
			all = append(all, s.name)
		}
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}
