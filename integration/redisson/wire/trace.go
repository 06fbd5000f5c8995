package wire

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/internal/testkit/monitor"
)

type cmd struct {
	words []string
	sha   string   // of a script, sent by its SHA-1 or as text
	keys  []string // KEYS of a script
	argv  []string // ARGV of a script
}

func command(words []string) cmd {
	c := cmd{words: words}
	if (c.is("EVALSHA") || c.is("EVAL")) && len(words) >= 3 {
		if n, err := strconv.Atoi(words[2]); err == nil && n >= 0 && 3+n <= len(words) {
			c.keys, c.argv = words[3:3+n], words[3+n:]
			if c.sha = words[1]; c.is("EVAL") {
				c.sha = shaOf(words[1])
			}
		}
	}
	return c
}

func (c cmd) is(words ...string) bool { return faultproxy.Command(words...)(c.words) }

// setUp matches the commands that set a connection up, keep it alive or have the server report changes. They do not affect
// locks and are left out. As configured here, Redisson sends only PING. Go sets its name, asks for its id (needed if the
// connection breaks) and for the server's role, and has the loss of holds older than a second reported.
var setUp = []faultproxy.Match{
	faultproxy.Command("PING"),
	faultproxy.Command("CLIENT", "ID"),
	faultproxy.Command("CLIENT", "INFO"),
	faultproxy.Command("CLIENT", "SETNAME"),
	faultproxy.Command("HELLO"),
	faultproxy.Command("ROLE"),
	faultproxy.Command("CLIENT", "LIST"),
	faultproxy.Command("CLIENT", "TRACKING"),
	faultproxy.Command("CLIENT", "CACHING"),
	faultproxy.Command("SUBSCRIBE", invalidations),
	faultproxy.Command("UNSUBSCRIBE", invalidations),
}

// invalidations is the channel on which Go hears of changes.
const invalidations = "__redis__:invalidate"

// event is one executed command as it was recorded.
type event struct {
	cmd
	inside [][]string // the calls that a script made
	reply  any
	wait   string // the WAIT after it on its connection, with its reply
	conn   int    // which of the proxy's connections

	sent, answered time.Time // by the proxy's clock; zero if it did not see the command
}

// raw is a scenario as it was recorded.
type raw struct {
	events   []event
	messages [][2]string
	keys     []key
}

type key struct {
	name, kind string
	value      []string
	ttl        int64
}

func (r *rig) finish(sc scenario) raw {
	r.T.Helper()
	if r.place != nil {
		// The scenario may have ended with a script's reply, before that of the WAIT after it.
		r.await("answers", func(all []faultproxy.Exchange) bool {
			return !slices.ContainsFunc(all, func(e faultproxy.Exchange) bool { return e.Cmd != nil && e.Answered.IsZero() })
		})
	}
	keys := r.keys()
	messages := r.messages()
	var moments []moment
	for i, tap := range r.taps {
		moments = append(moments, r.momentsAt(i, tap.Mark())...)
	}
	slices.SortStableFunc(moments, func(a, b moment) int { return a.at.Compare(b.at) })
	var events []event
	for _, m := range moments {
		events = append(events, m.event)
	}
	countLocksOnly(events)
	return raw{slices.DeleteFunc(events, func(e event) bool { return r.setUp(sc, e) }), messages, keys}
}

// countLocksOnly takes the channel of invalidations out of the counts of channels in replies.
func countLocksOnly(events []event) {
	told := map[int]int64{} // 1 while the connection is subscribed to it
	for i, e := range events {
		if e.is("SUBSCRIBE", invalidations) {
			told[e.conn] = 1
		} else if e.is("UNSUBSCRIBE", invalidations) {
			told[e.conn] = 0
		}
		if !e.is("SUBSCRIBE") && !e.is("UNSUBSCRIBE") {
			continue
		}
		if reply, ok := e.reply.([]any); ok && len(reply) == 3 {
			if n, ok := reply[2].(int64); ok {
				events[i].reply = []any{reply[0], reply[1], n - told[e.conn]}
			}
		}
	}
}

// moment is an event with the time at which its server executed it. All servers share one clock.
type moment struct {
	event
	at time.Time
}

// setUp reports whether an event has nothing to do with locks.
func (r *rig) setUp(sc scenario, e event) bool {
	is := func(m faultproxy.Match) bool { return m(e.words) }
	if _, refused := e.reply.(faultproxy.Error); e.shape() == "renew" && e.argv[0] == "0" {
		return !refused // it only looks; one that gets an error belongs to a SCRIPT LOAD
	}
	return slices.ContainsFunc(setUp, is) ||
		r.place != nil && (slices.ContainsFunc(setUpOfPlaces, is) || !sc.firstUse && slices.ContainsFunc(firstTime, is))
}

// momentsAt joins MONITOR's order and inner calls at a server with the proxy's replies. A command that only one of them saw
// is kept: MONITOR leaves out what an administrator does and what was not even begun.
func (r *rig) momentsAt(i int, lines []monitor.Line) []moment {
	r.T.Helper()
	numbers := map[string]int{}
	for _, c := range r.proxies[i].Log() {
		if r.place == nil || r.side.has(c) {
			numbers[c.Addr] = c.Number
		}
	}
	record := r.recordAt(i)
	taken := make([]bool, len(record))
	var events []moment
	for _, call := range monitor.Calls(lines) {
		number, ours := numbers[call.From]
		if !ours {
			continue
		}
		e := event{cmd: command(call.Args), reply: "not recorded", conn: number}
		for _, l := range call.Inside {
			e.inside = append(e.inside, l.Args)
		}
		i := -1
		for j, x := range record {
			if !taken[j] && x.Conn == number && slices.Equal(x.Cmd, call.Args) {
				i = j
				break
			}
		}
		if i >= 0 {
			taken[i] = true
			e.reply, e.sent, e.answered = record[i].Reply, record[i].Sent, record[i].Answered
			if record[i].Answered.IsZero() {
				e.reply = "not answered"
			}
		}
		events = append(events, moment{e, call.At})
	}
	for i, x := range record {
		if !taken[i] && x.Cmd != nil {
			events = append(events, moment{event{cmd: command(x.Cmd), reply: x.Reply, conn: x.Conn}, x.Sent})
		}
	}
	if r.place != nil {
		events = joinWaits(events)
	}
	return events
}

// keys returns all keys of the servers.
func (r *rig) keys() []key {
	r.T.Helper()
	var keys []key
	var err error
	names := r.names()
	for _, name := range names {
		k := key{name: name, kind: r.Do("TYPE", name).(string), ttl: r.Do("PTTL", name).(int64)}
		switch k.kind {
		case "hash":
			k.value, err = redis.Strings(r.Do("HGETALL", name), nil)
		case "string":
			var text string
			text, err = redis.String(r.Do("GET", name), nil)
			k.value = []string{text}
		}
		if err != nil {
			r.T.Fatal(err)
		}
		keys = append(keys, k)
	}
	return keys
}

// trace is a recording in which equal things look equal.
type trace struct {
	steps    []step
	late     bool // a waiter tried again later than is due
	messages []string
	keys     []string
	shas     map[string]string // of each role that was seen so far
}

type step struct {
	role   string  // of a script, else the command's name
	name   string  // the lock's key, or the first argument
	owner  string  // of lock and unlock
	lease  string  // of lock and unlock
	script *script // nil if it is none, or a renewal
	head   string  // the whole command
	inside []string
	reply  string
	wait   string // the WAIT after it, with its reply
	conn   int    // which of the proxy's connections
	tick   *tick  // of a renewal

	left           time.Duration // the TTL in a lock's refusal or a PTTL's reply
	sent, answered time.Time
}

type script struct {
	verb       string // EVALSHA or EVAL
	sha        string // shown for the lock script only: its text is the same on both sides
	keys, argv []string
}

// latch is the key of an unlock's latch, empty if it has none.
func (s *script) latch() string {
	if last := s.keys[len(s.keys)-1]; strings.Contains(last, latchPrefix) && len(s.keys) > 1 {
		return last
	}
	return ""
}

// show makes the head of a step that calls a script.
func (s *step) show() {
	s.head = s.script.verb + " " + s.role
	if s.script.sha != "" {
		s.head += " " + s.script.sha
	}
	s.head += " KEYS " + strings.Join(s.script.keys, " ") + " ARGV " + strings.Join(s.script.argv, " ")
}

func (s step) lines() []string {
	lines := []string{s.head}
	for _, call := range s.inside {
		lines = append(lines, "    "+call)
	}
	lines = append(lines, "    → "+s.reply)
	if s.wait != "" {
		lines = append(lines, "    then "+s.wait)
	}
	return lines
}

// clone returns a copy that can be changed without t.
func (t trace) clone() trace {
	c := trace{slices.Clone(t.steps), t.late, slices.Clone(t.messages), slices.Clone(t.keys), t.shas}
	for i := range c.steps {
		c.steps[i].inside = slices.Clone(c.steps[i].inside)
		if s := c.steps[i].script; s != nil {
			c.steps[i].script = &script{s.verb, s.sha, slices.Clone(s.keys), slices.Clone(s.argv)}
		}
		if t := c.steps[i].tick; t != nil {
			own := *t
			own.locks = maps.Clone(t.locks)
			c.steps[i].tick = &own
		}
	}
	return c
}

func (t trace) String() string {
	var b strings.Builder
	for i, s := range t.steps {
		fmt.Fprintf(&b, "%3d %s\n", i+1, strings.Join(s.lines(), "\n    "))
	}
	for _, m := range t.messages {
		fmt.Fprintf(&b, "  message %s\n", m)
	}
	for _, k := range t.keys {
		fmt.Fprintf(&b, "  key %s\n", k)
	}
	return b.String()
}
