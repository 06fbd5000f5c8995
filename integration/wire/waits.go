package wire

import (
	"slices"
	"strings"
)

// What the two sides do differently where a master has replicas.

// probesWait: Redisson asks first whether there is WAIT.
var probesWait = rule{"a probe of WAIT", func(java, _ *trace) bool {
	before := len(java.steps)
	java.steps = slices.DeleteFunc(java.steps, func(s step) bool {
		return s.head == "WAIT 0 0" && strings.HasPrefix(s.reply, "int ") || s.head == "WAITAOF 0 0 0"
	})
	return len(java.steps) < before
}}

// loadsFirst: Redisson loads a script before it calls it, once for each server, and Go does before a WAIT, once for each
// connection.
var loadsFirst = rule{"scripts loaded beforehand", func(java, golang *trace) bool {
	golang.steps = dropLoads(golang.steps)
	golang.dropAllLoads()
	return java.dropAllLoads()
}}

// loadsForWait: so does Go beside a Redisson that never loads.
var loadsForWait = rule{"scripts loaded before a WAIT", func(_, golang *trace) bool {
	golang.steps = dropLoads(golang.steps)
	return golang.dropAllLoads()
}}

// dropAllLoads takes out loads of scripts, whoever asked for them, and reports whether there were any.
func (t *trace) dropAllLoads() bool {
	before := len(t.steps)
	t.steps = slices.DeleteFunc(t.steps, func(s step) bool { return s.role == "SCRIPT LOAD" && s.reply == `bulk "its SHA-1"` })
	return len(t.steps) < before
}

// oneWaitABatch: what Go wrote at once has one WAIT at its end.
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
