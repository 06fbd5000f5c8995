package alike

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rlock-go/redisson/codec"
)

// verbs are the calls that are no method of an object, by their first word.
var verbs map[string]func(p *Play, args []string)

func init() {
	verbs = map[string]func(p *Play, args []string){
		"!": func(p *Play, args []string) {
			words := p.args(args[1:])
			for i, w := range words {
				if text, is := w.(string); is && text == "OTHER" {
					words[i] = "550e8400-e29b-41d4-a716-446655440000:31"
				} else if ms, err := strconv.ParseInt(text, 10, 64); is && err == nil && strings.ContainsAny(text[:1], "+-") {
					words[i] = p.now() + ms
				}
			}
			p.Do(args[0], words...)
		},
		// Exactly one waiter has entered; it releases by a method. An answer after = is what its wait must have returned.
		"next": func(p *Play, args []string) {
			in, got := p.entered()
			if len(args) > 2 {
				p.judge(in.who+" is in", in.side, in.kind, got, args[2])
			}
			p.asleep()
			p.release(in, args[0])
		},
		// All waiters have entered; each releases by a method, if one is given.
		"all": func(p *Play, args []string) {
			all := slices.Clone(p.waits)
			for _, w := range all {
				p.judge("waits", w.side, w.kind, p.end(w), "")
			}
			for _, w := range all {
				if len(args) > 0 {
					p.release(w, args[0])
				}
			}
		},
		"none": func(p *Play, _ []string) { p.none() },
		// This number of connections listens.
		"listeners": func(p *Play, args []string) {
			p.Becomes("listeners", func() bool { return fmt.Sprint(p.listening(p.Kind)) == args[0] })
		},
		// This number of keys is left, not counting unlock results, which expire.
		"keys": func(p *Play, args []string) {
			p.Becomes(args[0]+" keys", func() bool {
				keys := slices.DeleteFunc(p.Strings("KEYS", "*"), func(key string) bool { return strings.HasPrefix(key, latchPrefix) })
				return fmt.Sprint(len(keys)) == args[0]
			})
		},
		// A permit's lease ends.
		"over": func(p *Play, args []string) {
			p.call(slices.Concat([]string{"O", "b", "updatelease"}, args, []string{"1ms"}))
			p.Becomes("its end", func() bool { return p.Number("ZCOUNT", codec.PermitTimes(p.Object), 0, p.now()) == 1 })
		},
		// Takes all permits that are left.
		"rest": func(p *Play, args []string) {
			for n := p.Number("GET", p.Object); n > 0; n-- {
				p.call([]string{"a", "acquire", "30s", ">", args[0] + strconv.Itoa(n)})
			}
		},
		// The waiter knows a later end of the first permit. A count takes the expired one back and publishes that.
		"counted": func(p *Play, _ []string) {
			p.Becomes("a permit that is back", func() bool {
				_, err := p.Sides["O"].Do(p.ctx, "b", p.Kind, p.Object, "available")
				return err == nil && len(p.waits[0].ended) > 0
			})
		},
		// A waiter has tried again since the line began. Releases before 3.52 wait for a message about all that they want.
		"tried": func(p *Play, _ []string) {
			if !p.Before("3.52") {
				p.Becomes("a try", func() bool { return p.Counts()["get"] > p.calls["get"] })
			}
		},
		// Both sides see these numbers of free and of acquired permits. Redisson up to 3.16 sees only the first.
		"are": func(p *Play, args []string) {
			for _, side := range []string{"G", "J"} {
				p.call([]string{side, "c", "available", "=", args[0]})
				if side == "G" || !p.Before("3.2") {
					p.call([]string{side, "c", "acquired", "=", args[1]})
				}
			}
		},
		// As "has G a 2": the server has this number of holds, all of this owner. free: it has none. gone waits for that.
		"has": func(p *Play, args []string) {
			owner, err := p.Sides[args[0]].Owner(p.ctx, args[1])
			p.Must(err)
			p.has(owner + " " + args[2])
		},
		"free": func(p *Play, _ []string) { p.has("") },
		"gone": func(p *Play, _ []string) { p.Gone(p.Object) },
		// The TTL of the lock's key, or of the keys named.
		"ttl": func(p *Play, args []string) {
			for _, key := range append([]any{p.Object}, p.args(args[1:])...)[min(1, len(args)-1):] {
				p.judge("ttl", nil, p.Kind, result{answer: fmt.Sprint(p.PTTL(key.(string)).Milliseconds())}, args[0])
			}
		},
		// Exactly these keys exist, among those whose names begin like the object's without its last letter.
		"locked": func(p *Play, args []string) {
			keys := p.Strings("KEYS", p.Object[:len(p.Object)-1]+"*")
			slices.Sort(keys)
			if want := p.args(args); fmt.Sprint(keys) != fmt.Sprint(want) {
				p.Fatalf("locked are %v, want %v", keys, want)
			}
		},
		// The call ends when the lock's lease expires by itself.
		"expires": func(p *Play, args []string) {
			const early, late = 50 * time.Millisecond, 3 * time.Second // clocks differ; a loaded machine is slow
			from, left := time.Now(), p.PTTL(p.Object)
			p.call(args)
			if took := time.Since(from); took < left-early || took > left+late {
				p.Fatalf("a lease that ended after %v let the next in after %v", left, took)
			}
		},
		// What an owner's queries about the lock return: whether it is locked, and how many holds the owner has.
		"view": func(p *Play, args []string) {
			held, left := "true", "15s..30s"
			if args[3] == "0" {
				held = "false"
			}
			if args[2] == "false" {
				left = "-2ms..-2ms"
			}
			for _, call := range []string{"islocked = " + args[2], "isheld = " + held, "holdcount = " + args[3], "remain = " + left} {
				p.call(strings.Fields(args[0] + " " + args[1] + " " + call))
			}
		},
		// Both sides return this as the last grant's token, whose key never expires.
		"last": func(p *Play, args []string) {
			p.call([]string{"G", "a", "token", "=", args[0]})
			p.call([]string{"J", "t1", "token", "=", args[0]})
			if ttl := p.Do("PTTL", codec.TokenKey(p.Object)); ttl != int64(-1) && args[0] != "0" {
				p.Errorf("the tokens live for %v", ttl)
			}
		},
		// Waits for a renewal, so that the lease ends later than a waiter knows.
		"renewed": func(p *Play, _ []string) {
			last := p.PTTL(p.Object)
			p.Becomes("a renewal", func() bool {
				ttl := p.PTTL(p.Object)
				grew := ttl > last
				last = ttl
				return grew
			})
		},
	}
}

func (p *Play) release(w *wait, method string) {
	p.Helper()
	p.judge(w.who+" "+method, w.side, w.kind, p.do(p.ctx, w.side, w.who, w.kind, p.Object, method, nil), "")
}

// has fails the test unless the lock's hash has exactly this owner and count. A write lock's mode and suffix are ignored.
func (p *Play) has(want string) {
	p.Helper()
	var have []string
	for pair := range slices.Chunk(p.Strings("HGETALL", p.Object), 2) {
		if owner, writes := strings.CutSuffix(pair[0], ":write"); writes || pair[0] != "mode" {
			have = append(have, owner+" "+pair[1])
		}
	}
	if got := strings.Join(have, ", "); got != want {
		p.Fatalf("the server has %q, want %q", got, want)
	}
}
