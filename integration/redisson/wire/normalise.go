package wire

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/javapeer"
)

// identity is what is known of one client, over all its scenarios.
type identity struct {
	client string            // the first half of its owners
	kind   javapeer.Kind     // of the scenario's locks
	known  map[string]string // roles that a script's shape may not show, by SHA-1
	shas   map[string]string // the SHA-1 of each kind's role, as seen
}

func newIdentity(client string) *identity {
	return &identity{client: client, known: map[string]string{}, shas: map[string]string{}}
}

// role names a script by its SHA-1 if that is known, else by the shape of its KEYS and ARGV.
func (id *identity) role(c cmd) string {
	role := id.known[c.sha]
	if role == "" {
		role = c.shape()
	}
	if role == "" {
		role = "unheard-of script " + c.sha
	}
	full := titled(id.kind, role)
	if c.sha == tokenScript {
		full += tokenOnly
	}
	if first := id.shas[full]; first != "" && first != c.sha {
		return role + " by another script than before"
	}
	id.shas[full] = c.sha
	return role
}

// roleOfText names a script that is loaded by the role in which it was called.
func (id *identity) roleOfText(text string) string {
	sha := shaOf(text)
	for full, seen := range id.shas {
		if seen == sha {
			return strings.TrimSuffix(untitled(full), tokenOnly)
		}
	}
	return "unheard-of script " + sha
}

// normaliser evens out one scenario of one client.
type normaliser struct {
	*identity
	unit    int64 // in ms: what short times are rounded up to
	owners  map[string]string
	latches map[string]string
}

func normalise(id *identity, sc scenario, r raw) trace {
	id.kind = sc.kind
	n := normaliser{id, min(sc.lease(), shortest).Milliseconds(), map[string]string{}, map[string]string{}}
	var steps []step
	for _, e := range splitDels(r.events) {
		steps = append(steps, n.step(e))
	}
	if !sc.firstUse {
		// Loading scripts is not what the scenario is about.
		steps = dropLoads(steps)
	}
	t := trace{steps: mergeTicks(gather(steps)), shas: maps.Clone(id.shas)}
	if sc.kind == javapeer.Spin {
		t.steps, t.late = mergePolls(t.steps)
	}
	for _, m := range r.messages {
		t.messages = append(t.messages, n.words(m[:]))
	}
	for _, k := range r.keys {
		t.keys = append(t.keys, fmt.Sprintf("%s %s %s ttl %s", n.word(k.name), k.kind, n.words(k.value), rounded(k.ttl, n.unit)))
	}
	return t
}

var (
	ownerForm = regexp.MustCompile(`^([0-9a-f-]{36}):([0-9]+)$`)
	latchForm = regexp.MustCompile(`^(` + latchPrefix + `(?s:.+):)([0-9a-f]{32})$`)
)

const latchPrefix = "redisson_unlock_latch:"

// word is one argument, evened out and quoted where it needs it.
func (n *normaliser) word(w string) string {
	if m := ownerForm.FindStringSubmatch(w); m != nil && m[1] == n.client {
		return alias(n.owners, w, "OWNER")
	}
	if m := latchForm.FindStringSubmatch(w); m != nil {
		w = m[1] + alias(n.latches, m[2], "LATCH")
	} else if latch, ok := strings.CutSuffix(w, ":"+n.client); ok && strings.HasPrefix(latch, latchPrefix) {
		w = latch + ":CLIENT"
	}
	if q := strconv.Quote(w); w == "" || strings.Contains(w, " ") || q != `"`+w+`"` {
		return q
	}
	return w
}

func (n *normaliser) words(ws []string) string { return strings.Join(n.each(ws), " ") }

func (n *normaliser) each(ws []string) []string {
	out := make([]string, len(ws))
	for i, w := range ws {
		out[i] = n.word(w)
	}
	return out
}

func alias(names map[string]string, w, prefix string) string {
	if names[w] == "" {
		names[w] = prefix + strconv.Itoa(len(names)+1)
	}
	return names[w]
}

// shortest is what times are rounded up to, unless the watchdog's timeout is shorter.
const shortest = 10 * time.Second

// rounded rounds a PTTL up. Negative ones have meanings of their own; a key in its last millisecond has 0.
func rounded(ms, unit int64) string {
	if ms < 0 {
		return strconv.FormatInt(ms, 10)
	}
	switch time := time.Duration(ms) * time.Millisecond; {
	case time > long:
		unit = long.Milliseconds()
	case time > shortest:
		unit = shortest.Milliseconds()
	}
	return "≤" + strconv.FormatInt(max(1, (ms+unit-1)/unit)*unit, 10)
}

// latchMs hides how long a latch is kept, in which clients may differ.
func latchMs(w string) string {
	if ms, err := strconv.ParseInt(w, 10, 64); err != nil || ms < 1000 || ms > 600_000 {
		return "unreasonable latch time " + w
	}
	return "LATCHTIME"
}

func (n *normaliser) step(e event) step {
	s := step{role: strings.ToUpper(e.words[0]), sent: e.sent, answered: e.answered, wait: e.wait, conn: e.conn}
	if len(e.words) > 1 {
		s.name = n.word(e.words[1])
	}
	reply := e.reply
	switch {
	case len(e.keys) > 0:
		s.role, s.name = n.role(e.cmd), n.words(e.keys[:1])
		argv := slices.Clone(e.argv)
		s.script = &script{verb: strings.ToUpper(e.words[0])}
		switch s.role {
		case "lock":
			if n.kind != javapeer.Fenced && n.kind != javapeer.NonReentrant { // their scripts reply differently
				s.script.sha = e.sha
			}
			s.lease, s.owner = argv[0], n.word(argv[1])
		case "unlock":
			if at := min(len(argv)-1, 4); e.latch() != "" { // a second publish command may follow it
				argv[at] = latchMs(argv[at])
			}
			of := argv
			if e.publishes() {
				of = argv[1:] // after the message
			}
			s.lease, s.owner = of[0], n.word(of[1])
		case "renew":
			s.tick = n.tick(e)
			s.name = "a batch"
		}
		s.script.keys, s.script.argv = n.each(e.keys), n.each(argv)
		s.show()
	case e.is("SCRIPT", "LOAD") && len(e.words) == 3:
		s.role, s.name = "SCRIPT LOAD", n.roleOfText(e.words[2])
		s.head = "SCRIPT LOAD " + s.name
		if reply == shaOf(e.words[2]) {
			reply = "its SHA-1"
		}
	default:
		s.head = s.role + " " + n.words(e.words[1:])
	}
	for _, call := range e.inside {
		s.inside = append(s.inside, n.inner(call))
	}
	ms, isInt := reply.(int64)
	pair, isPair := refusedToken(reply)
	switch {
	case isInt && (s.role == "lock" || s.role == "PTTL"):
		s.left = time.Duration(ms) * time.Millisecond
		s.reply = "int " + rounded(ms, n.unit)
	case isPair && s.role == "lock":
		s.left = time.Duration(pair) * time.Millisecond
		s.reply = "[int " + rounded(pair, n.unit) + ", int -1]"
	default:
		s.reply = n.value(reply)
	}
	return s
}

// inner evens out one call in a script. The case of a command's name does not matter.
func (n *normaliser) inner(call []string) string {
	call = slices.Clone(call)
	call[0] = strings.ToLower(call[0])
	if call[0] == "set" && len(call) == 5 && strings.EqualFold(call[3], "px") {
		call[3], call[4] = "px", latchMs(call[4])
	}
	return n.words(call)
}

func (n *normaliser) value(reply any) string {
	switch v := reply.(type) {
	case nil:
		return "nil"
	case int64:
		return "int " + strconv.FormatInt(v, 10)
	case string:
		return "bulk " + n.word(v)
	case faultproxy.Status:
		return "status " + string(v)
	case faultproxy.Error:
		return "error " + string(v)
	case []any:
		var items []string
		for _, item := range v {
			items = append(items, n.value(item))
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	return fmt.Sprintf("%T %v", reply, reply)
}
