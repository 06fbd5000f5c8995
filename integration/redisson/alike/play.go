package alike

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/integration/kit/machineclock"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// Play is one object on a server, and the sides that call its methods as a script says. A line of a script has calls
// separated by semicolons:
//
//	a lock 1m                   owner a locks; it must succeed
//	J b read:unlock = not held  thread b of side J, another kind than the play's, and the wanted answer; a | precedes what Java may answer instead, ~ for nothing
//	c& trylockfor 3s            c waits; the next call begins once it waits, with && at once
//	c ends = false              the answer to c's wait
//	a acquire 30s > x           permits, whose ids are $x from now on; $x.0 is the first
//	a lock@x                    locks the object that [Play.Set] named x
//	3.27+ a unlock              a line for releases from 3.27 on; 3.27- is for those before
//	! RPUSH $Q OTHER            a Redis command. $N is the object's name, $C its channel, $Q and $T a fair lock's queue and times, +500 the time in 500 ms
//
// A call may also begin with a word of verbs.
type Play struct {
	*testbed.View
	Sides   map[string]Side // by their names in scripts; "" is the default
	Kind    javapeer.Kind
	Object  string
	Version string        // of Redisson
	Most    time.Duration // bounds waits that must end
	Sees    bool          // keep what the server has after each line
	Conns   []redis.Conn  // to all servers with subscribers; nil: the view's
	Limit   time.Duration // bounds the whole play, so that a wait in vain fails it; 0: 90 s
	Sharded bool          // messages may be sent to one shard: Go subscribes twice

	ctx   context.Context
	ids   map[string][]string
	waits []*wait
	began time.Time
	calls map[string]int64 // commands that the server had run when the line began
	seen  []State

	answers []string // to the line's calls; both sides must give the same
}

type result struct {
	answer string
	err    error
	at     int64 // when the call returned, by the clock that all processes share
}

func (p *Play) do(ctx context.Context, side Side, who string, kind javapeer.Kind, object, method string, args []any) (r result) {
	began := machineclock.Now()
	if java, is := side.(*Java); is {
		r.answer, r.at, r.err = java.do(ctx, who, kind, object, method, args)
	} else {
		r.answer, r.err = side.Do(ctx, who, kind, object, method, args...)
		r.at = machineclock.Now()
	}
	// Java may wait slightly too short, since it subtracts instants in whole milliseconds.
	if took := time.Duration(r.at - began); method == "trylockfor" && r.answer == "false" && took < duration(args, 0)-5*time.Millisecond {
		p.Errorf("%T %s %s %v gave up after %v", side, who, method, args, took)
	}
	return r
}

// For returns a copy of the play for a test, or a part of one, and an object of this name.
func (p Play) For(t *testing.T, name string) *Play {
	if p.Server != nil {
		p.View = p.View.For(t)
	} else {
		p.View = testbed.Asking(t, p.Conn)
	}
	ctx, cancel := context.WithTimeout(t.Context(), cmp.Or(p.Limit, 90*time.Second))
	t.Cleanup(cancel)
	p.ctx, p.Object, p.ids, p.began = ctx, name, map[string][]string{}, time.Now()
	return &p
}

// With adds a side for scripts to name.
func (p *Play) With(name string, s Side) {
	p.Sides = maps.Clone(p.Sides)
	p.Sides[name] = s
}

// Set defines a value for scripts, as $name or @name.
func (p *Play) Set(name, value string) { p.ids[name] = []string{value} }

// Context ends with the test or at the limit.
func (p *Play) Context() context.Context { return p.ctx }

// Before reports whether the release is older than another. Their texts sort by age.
func (p *Play) Before(release string) bool { return p.Version < release }

// Run plays a script. replace has pairs: a word, or a kind before a colon, that equals the first is replaced by the second.
func (p *Play) Run(script string, replace ...string) {
	p.Helper()
	for line := range strings.Lines(script) {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if release, gate := words[0][:len(words[0])-1], words[0][len(words[0])-1:]; strings.HasPrefix(release, "3.") || strings.HasPrefix(release, "4.") {
			if p.Before(release) != (gate == "-") {
				continue
			}
			words = words[1:]
		}
		for i, w := range words {
			for k := 0; k < len(replace); k += 2 {
				if kind, method, is := strings.Cut(w, ":"); w == replace[k] {
					words[i] = replace[k+1]
				} else if is && kind == replace[k] {
					words[i] = replace[k+1] + ":" + method
				}
			}
		}
		step := strings.Join(words, " ")
		p.calls = p.Counts()
		for call := range strings.SplitSeq(step, ";") {
			p.call(strings.Fields(call))
		}
		if p.Sees {
			if p.Kind == javapeer.Fair && strings.Contains(step, " ends") {
				p.Stands(len(p.waits))
			}
			s := p.look(step)
			s.Exact = append(s.Exact, p.answers...)
			p.seen, p.answers = append(p.seen, s), nil
		}
	}
}

func (p *Play) call(words []string) {
	p.Helper()
	if verb := verbs[words[0]]; verb != nil {
		verb(p, words[1:])
		return
	}
	side := p.Sides[""]
	if s := p.Sides[words[0]]; s != nil {
		side, words = s, words[1:]
	}
	words, want := cut(words, "=")
	words, to := cut(words, ">")
	if words[0] == "dies" {
		side.Dies()
		for _, w := range slices.Clone(p.waits) {
			if w.side == side {
				p.end(w)
			}
		}
		return
	}
	who, args := words[0], p.args(words[2:])
	method, id, other := strings.Cut(words[1], "@")
	object := p.Object
	if other {
		object = p.ids[id][0]
	}
	kind := p.Kind
	if k, m, is := strings.Cut(method, ":"); is {
		kind, method = javapeer.Kind(k), m
	}
	if name, begun := strings.CutSuffix(who, "&"); begun {
		p.begin(side, name, kind, object, method, args)
		return
	}
	var got result
	switch method {
	case "is": // G a is J a
		owner, err := p.Sides[words[2]].Owner(p.ctx, words[3])
		p.Must(err)
		o, err := rlock.ParseOwner(owner)
		p.Must(err)
		side.(*Go).As(who, o)
		return
	case "cancel":
		w := p.waiting(side, who)
		w.cancel()
		if got := p.end(w); !errors.Is(got.err, context.Canceled) {
			p.Errorf("%s is cancelled: %v", who, got)
		}
		return
	case "cancelling": // at the same time as the next call
		go p.waiting(side, who).cancel()
		return
	case "left": // the wait was cancelled, or it was granted and is released
		w := p.waiting(side, who)
		if got := p.end(w); got.err == nil {
			p.release(w, words[2])
		} else if !errors.Is(got.err, context.Canceled) {
			p.Error(got.err)
		}
		return
	case "interrupt":
		_, err := side.(*Java).Thread(who).Interrupt(p.ctx)
		p.Must(err)
		if got := p.end(p.waiting(side, who)); got.err == nil || !strings.Contains(got.err.Error(), "InterruptedException") {
			p.Errorf("%s is interrupted: %v", who, got)
		}
		return
	case "lost":
		select {
		case <-side.(*Go).Hold(who, kind, cmp.Or(side.(*Go).Named, p.Object), false).Done():
		case <-time.After(p.Most):
			p.Fatalf("%s is not told of its loss", who)
		}
		return
	case "ends":
		got = p.end(p.waiting(side, who))
	default:
		got = p.do(p.ctx, side, who, kind, object, method, args)
	}
	if len(to) > 0 {
		p.ids[to[0]] = strings.Fields(got.answer)
	}
	p.judge(strings.Join(words, " "), side, kind, got, strings.Join(want, " "))
	if len(to) == 0 && len(want) == 0 { // where an answer is wanted, the sides may differ
		p.answers = append(p.answers, method+" answers "+got.answer)
	}
}

// judge fails the test if the answer is not the wanted one. Without one, locks and permits must not refuse.
func (p *Play) judge(call string, side Side, kind javapeer.Kind, got result, want string) {
	p.Helper()
	_, java := side.(*Java)
	said := got.answer
	if got.err != nil {
		said = "error"
	}
	ok := false
	switch ours, theirs, both := strings.Cut(want, "|"); {
	case want == "":
		counts := kind == "semaphore" || kind == "countdown"
		ok = got.err == nil && (counts || !slices.Contains([]string{"false", "null", "not held", "reentered"}, said))
	case strings.HasPrefix(want, "refused"):
		ok = slices.Contains([]string{"error", "not held", "false"}, said) || java && said == "" && want == "refused|~"
	case strings.Contains(want, ".."):
		between := Args(strings.SplitN(want, "..", 2))
		d, err := time.ParseDuration(said + "ms")
		ok = err == nil && d >= between[0].(time.Duration) && d <= between[1].(time.Duration)
	default:
		ok = said == strings.TrimSpace(ours) || both && java && said == strings.Replace(strings.TrimSpace(theirs), "~", "", 1)
	}
	if !ok {
		p.Errorf("%T %s: %q, %v; want %q", side, call, got.answer, got.err, want)
	}
}

// cut returns the words before and after a sign.
func cut(words []string, sign string) (before, after []string) {
	if i := slices.Index(words, sign); i >= 0 {
		return words[:i], words[i+1:]
	}
	return words, nil
}

// Args parses a call's arguments: durations, dog for the watchdog's, and other words as they are.
func Args(words []string) (all []any) {
	for _, w := range words {
		if d, err := time.ParseDuration(w); err == nil && w != "0" {
			all = append(all, d)
		} else if w == "dog" {
			all = append(all, javapeer.Watchdog)
		} else {
			all = append(all, w)
		}
	}
	return all
}

// args is Args with the $ names replaced by permit ids, keys and channels.
func (p *Play) args(words []string) (all []any) {
	for _, w := range words {
		name, first := strings.CutSuffix(w, ".0")
		ids := p.ids[strings.TrimPrefix(name, "$")]
		switch {
		case w == "$N":
			all = append(all, p.Object)
		case w == "$C":
			all = append(all, channel(p.Kind, p.Object))
		case w == "$Q":
			all = append(all, codec.FairQueue(p.Object))
		case w == "$T":
			all = append(all, codec.FairTimes(p.Object))
		case strings.HasPrefix(w, "$") && first:
			all = append(all, ids[0])
		case strings.HasPrefix(w, "$"):
			for _, id := range ids {
				all = append(all, id)
			}
		default:
			all = append(all, Args([]string{w})...)
		}
	}
	return all
}
