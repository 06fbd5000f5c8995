package wire

import (
	"slices"
	"strconv"
	"strings"
)

// rule undoes one difference that is there on purpose.
type rule struct {
	name string
	undo func(java, golang *trace) bool // false if there was nothing to undo
}

// justification lets one rule apply to some scenarios, and to no others.
type justification struct {
	scenarios []string
	rule      rule
	reason    string
}

// justified is every difference that may be, and must be.
var justified = []justification{
	{
		[]string{"first use of each script", "force unlock of a locked one", "force unlock of an unlocked one"},
		asksTheType,
		"Go asks for the key's TYPE first, so that a key which is no lock is not deleted.",
	},
	{
		[]string{"re-entry with a shorter lease"},
		keepsTheLonger("lock"),
		"Java shortens the outer lease to the inner one; Go passes what the outer one still has.",
	},
	{
		[]string{"partial unlock of a fixed lease"},
		keepsTheLonger("unlock"),
		"Java passes its lock object's lease, not the hold's; Go passes what the hold that is left still has.",
	},
	{
		[]string{"unlock by a stranger"},
		asksTheTTL,
		"UnlockAs does not know the owner's lease, so it asks for the TTL in order not to shorten it.",
	},
}

// rulesFor are the rules that apply to a scenario, and their reasons.
func rulesFor(scenario string) (rules []rule, reasons []string) {
	for _, j := range justified {
		if slices.Contains(j.scenarios, scenario) {
			rules = append(rules, j.rule)
			reasons = append(reasons, j.reason)
		}
	}
	return rules, reasons
}

var asksTheType = question("TYPE", "force", "status hash", "status none")

var asksTheTTL = question("PTTL", "unlock", "int ≤"+strconv.FormatInt(quiet.Milliseconds(), 10))

// question takes out one question that Go asks about a key right before a script about it.
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

// keepsTheLonger puts Java's lease in the place of the longer one that Go passes in a script, and in that of the TTL which
// the key is left with. What Go passes is what is left of the outer hold's fixed lease.
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
