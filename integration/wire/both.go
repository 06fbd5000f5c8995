package wire

import (
	"slices"
	"strings"
)

// In a cluster there are two kinds of messages, and who listens for one does not hear the other.

// hearsBoth: Go listens for both kinds.
var hearsBoth = rule{"subscriptions of both kinds", func(java, golang *trace) (found bool) {
	for _, verb := range []string{"SUBSCRIBE", "UNSUBSCRIBE"} {
		kept, other := verb, "S"+verb
		if java.has(other) {
			kept, other = other, kept
		}
		kind := func(s step) bool { return s.role == other }
		// The other kind has to come beside the one that Java has, channel by channel.
		if named(java.steps, kept) != "" && named(golang.steps, kept) == named(golang.steps, other) {
			golang.steps = slices.DeleteFunc(golang.steps, kind)
			found = true
		}
	}
	return found
}}

// publishesBoth: Go's releases publish for both.
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
	// Each is heard by its own kind of subscriber.
	golang.messages = slices.DeleteFunc(golang.messages, func(m string) bool {
		return strings.HasPrefix(m, heardSharded) == (kept == "publish")
	})
	return true
}}

// heardSharded begins a message that was sent to a shard, as a trace shows it.
const heardSharded = `"` + shardedMark

// publishOnly has a script that publishes by both commands publish by one. It reports false if that is not how it was called.
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

// named are the names of all steps of a role, sorted.
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
