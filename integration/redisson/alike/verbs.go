package alike

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rlock-go/redisson/codec"
)

// verbs are calls of their own.
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
		// One who waits is in, and nobody else; it releases by a method. Behind = is what it must have been answered.
		"next": func(p *Play, args []string) {
			in, got := p.entered()
			if len(args) > 2 {
				p.judge(in.who+" is in", in.side, in.kind, got, args[2])
			}
			p.asleep()
			p.release(in, args[0])
		},
		// All who wait are in; each releases by a method, if there is one.
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
		// So many connections listen.
		"listeners": func(p *Play, args []string) {
			p.Becomes("listeners", func() bool { return fmt.Sprint(p.listening(p.Kind)) == args[0] })
		},
		// So many keys are left but for what ends by itself.
		"keys": func(p *Play, args []string) {
			p.Becomes(args[0]+" keys", func() bool {
				keys := slices.DeleteFunc(p.Strings("KEYS", "*"), func(key string) bool { return strings.HasPrefix(key, latchPrefix) })
				return fmt.Sprint(len(keys)) == args[0]
			})
		},
		// The time of a permit is over.
		"over": func(p *Play, args []string) {
			p.call(slices.Concat([]string{"O", "b", "updatelease"}, args, []string{"1ms"}))
			p.Becomes("its end", func() bool { return p.Number("ZCOUNT", codec.PermitTimes(p.Object), 0, p.now()) == 1 })
		},
		// All permits that are left are taken.
		"rest": func(p *Play, args []string) {
			for n := p.Number("GET", p.Object); n > 0; n-- {
				p.call([]string{"a", "acquire", "30s", ">", args[0] + strconv.Itoa(n)})
			}
		},
		// Who waits was told when the first permit would end, and that was later: a count takes one back and tells it.
		"counted": func(p *Play, _ []string) {
			p.Becomes("a permit that is back", func() bool {
				_, err := p.Sides["O"].Do(p.ctx, "b", p.Kind, p.Object, "available")
				return err == nil && len(p.waits[0].ended) > 0
			})
		},
		// Who waits has tried again since the line began. Releases before 3.52 wait for a message of all that they want.
		"tried": func(p *Play, _ []string) {
			if !p.Before("3.52") {
				p.Becomes("a try", func() bool { return p.Counts()["get"] > p.calls["get"] })
			}
		},
		// So many permits are free, and so many are taken, as both sides see it. Redisson up to 3.16 sees the first only.
		"are": func(p *Play, args []string) {
			for _, side := range []string{"G", "J"} {
				p.call([]string{side, "c", "available", "=", args[0]})
				if side == "G" || !p.Before("3.2") {
					p.call([]string{side, "c", "acquired", "=", args[1]})
				}
			}
		},
		// The server has so many holds of one alone, as "has G a 2"; free is nobody's, which gone waits for.
		"has": func(p *Play, args []string) {
			owner, err := p.Sides[args[0]].Owner(p.ctx, args[1])
			p.Must(err)
			p.has(owner + " " + args[2])
		},
		"free": func(p *Play, _ []string) { p.has("") },
		"gone": func(p *Play, _ []string) { p.Gone(p.Object) },
		// What the lock's key, or that of others, has left.
		"ttl": func(p *Play, args []string) {
			for _, key := range append([]any{p.Object}, p.args(args[1:])...)[min(1, len(args)-1):] {
				p.judge("ttl", nil, p.Kind, result{answer: fmt.Sprint(p.PTTL(key.(string)).Milliseconds())}, args[0])
			}
		},
		// These are keys, and no others whose names begin as the object's, up to its last letter.
		"locked": func(p *Play, args []string) {
			keys := p.Strings("KEYS", p.Object[:len(p.Object)-1]+"*")
			slices.Sort(keys)
			if want := p.args(args); fmt.Sprint(keys) != fmt.Sprint(want) {
				p.Fatalf("locked are %v, want %v", keys, want)
			}
		},
		// The call comes to its end when what is left of the lock's lease is over, by itself.
		"expires": func(p *Play, args []string) {
			const early, late = 50 * time.Millisecond, 3 * time.Second // as clocks differ, as a loaded machine needs
			from, left := time.Now(), p.PTTL(p.Object)
			p.call(args)
			if took := time.Since(from); took < left-early || took > left+late {
				p.Fatalf("a lease that ended after %v let the next in after %v", left, took)
			}
		},
		// What all questions of one about the lock are answered: whether it is locked, and how many holds are its.
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
		// Both sides say that this is the last grant's token, which never expires.
		"last": func(p *Play, args []string) {
			p.call([]string{"G", "a", "token", "=", args[0]})
			p.call([]string{"J", "t1", "token", "=", args[0]})
			if ttl := p.Do("PTTL", codec.TokenKey(p.Object)); ttl != int64(-1) && args[0] != "0" {
				p.Errorf("the tokens live for %v", ttl)
			}
		},
		// The lock is renewed, so that it is a lease that a waiter was not told of which has to end.
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

// has fails the test unless the lock's hash is exactly this: an owner and its count. Of a write lock it is what is written.
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
