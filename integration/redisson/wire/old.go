package wire

import (
	"slices"
	"strconv"
	"strings"
)

// What older releases of Redisson do differently. Each rule undoes one such difference wherever it occurs.

// byText: Redisson sends the script's text with every call.
var byText = rule{"scripts sent as text", func(java, golang *trace) (found bool) {
	for i := range java.steps {
		switch s := &java.steps[i]; {
		case s.tick != nil && s.tick.verb == "EVAL":
			s.tick.verb = "EVALSHA"
			s.tick.show(s)
			found = true
		case s.script != nil && s.script.verb == "EVAL":
			s.script.verb = "EVALSHA"
			s.show()
			found = true
		}
	}
	if found {
		// A client that sends the text has nothing to load.
		golang.steps = dropLoads(golang.steps)
	}
	return found
}}

// otherLockText: Redisson's lock script had two branches instead of one.
var otherLockText = rule{"another text of the lock script", func(java, _ *trace) (found bool) {
	for i := range java.steps {
		if s := &java.steps[i]; s.role == "lock" && s.script.sha != lockSHA && lockSHAs[s.script.sha] {
			s.script.sha = lockSHA
			s.show()
			found = true
		}
	}
	return found
}}

// firstBySetting: Redisson sets the first hold's count to 1 instead of incrementing it.
var firstBySetting = rule{"first acquire by hset", func(java, _ *trace) (found bool) {
	for i := range java.steps {
		s := &java.steps[i]
		if s.role != "lock" {
			continue
		}
		for k, call := range s.inside {
			if call == "hset "+s.name+" "+s.owner+" 1" {
				s.inside[k] = "hincrby " + s.name + " " + s.owner + " 1"
				found = true
			}
		}
	}
	return found
}}

// publishFixed: Redisson's scripts have no argument for how to publish.
var publishFixed = rule{"no argument for how to publish", func(_, golang *trace) (found bool) {
	at := map[string]int{"unlock": 3, "force": 1}
	for i := range golang.steps {
		s := &golang.steps[i]
		if k := at[s.role]; k > 0 && len(s.script.argv) > k && s.script.argv[k] == "PUBLISH" {
			s.script.argv = slices.Delete(s.script.argv, k, k+1)
			s.show()
			found = true
		}
	}
	return found
}}

// noLatch: Redisson's unlock keeps no result, so it reads, sets and deletes no latch.
var noLatch = rule{"unlock without a latch", func(_, golang *trace) (found bool) {
	latches := map[string]bool{}
	for i := range golang.steps {
		if s := &golang.steps[i]; s.role == "unlock" && s.dropLatch(latches) {
			found = true
		}
	}
	golang.steps = slices.DeleteFunc(golang.steps, func(s step) bool { return s.role == "DEL" && latches[s.name] })
	return found
}}

// dropLatch removes the latch from an unlock, and adds it to latches. It reports false if the unlock has none, or if its
// calls for the latch are wrong.
func (s *step) dropLatch(latches map[string]bool) bool {
	latch := s.script.latch()
	if latch == "" {
		return false
	}
	if strings.HasPrefix(s.reply, "error NOSCRIPT ") { // no call was made
		s.script.keys = s.script.keys[:len(s.script.keys)-1]
		s.script.argv = s.script.argv[:len(s.script.argv)-1]
		s.show()
		return true
	}
	of := []string{"get " + latch}
	if result, ok := strings.CutPrefix(s.reply, "int "); ok {
		of = append(of, "set "+latch+" "+result+" px LATCHTIME")
	}
	isOf := func(call string) bool { return slices.Contains(of, call) }
	rest := slices.DeleteFunc(slices.Clone(s.inside), isOf)
	if len(s.inside)-len(rest) != len(of) {
		return false
	}
	s.inside = rest
	latches[latch] = true
	s.script.keys = s.script.keys[:len(s.script.keys)-1]
	s.script.argv = s.script.argv[:len(s.script.argv)-1]
	s.show()
	return true
}

// oneByOne: Redisson renews each lock by a script call of its own.
var oneByOne = rule{"a renewal for each lock", func(java, _ *trace) (found bool) {
	for i := range java.steps {
		if s := &java.steps[i]; s.tick != nil && s.tick.single {
			s.tick.single = false
			s.tick.show(s)
			found = true
		}
	}
	return found
}}

// deletesAnother: Redisson's DEL after an unlock misses the latch.
var deletesAnother = rule{"a DEL that misses the latch", func(java, _ *trace) (found bool) {
	for i := range java.steps[:max(0, len(java.steps)-1)] {
		unlock, del := java.steps[i], &java.steps[i+1]
		if unlock.role != "unlock" || del.role != "DEL" || !meant(*del, unlock) || del.reply != "int 0" {
			continue
		}
		latch := unlock.script.latch()
		kept := len(java.keys)
		java.keys = slices.DeleteFunc(java.keys, func(k string) bool { return strings.HasPrefix(k, latch+" string ") })
		del.name, del.head = latch, "DEL "+latch
		del.reply = "int " + strconv.Itoa(kept-len(java.keys))
		found = true
	}
	return found
}}
