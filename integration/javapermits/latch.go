package javapermits

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
)

// LatchBesideJava is SemaphoreBesideJava of a count-down latch.
func LatchBesideJava(t *testing.T, version string) int {
	r := newRig(t)
	p := latches(r, r.Server.URL(), version, name)
	return shows(t, p, []numberShow{
		{"the last count-down wakes the other", func(p *numbers) {
			p.wakeUps(
				func(n number) { p.says("true", n, "trysetcount", 2); p.says("", n, "countdown") },
				func(n number) { p.says("", n, "countdown") }, "await")
		}},
		{"all wait for the last", bothAwait},
		{"a zero that is told too early", lateZero},
		{"deleted under awaiters", deletedUnderAwaiters},
		{"who leaves leaves nothing", func(p *numbers) {
			p.says("true", p.golang, "trysetcount", 1)
			leave(p, func() { p.says("", p.golang, "countdown") }, "await")
			p.says("0", p.golang, "count")
		}},
	})
}

// bothAwait has two of each side wait, while both count down; the count is set again at once.
func bothAwait(p *numbers) {
	for who, s := range p.sides() {
		p.says("true", s[0], "trysetcount", 4)
		p.says("false", s[1], "trysetcount", 9)
		var got []<-chan ended
		for _, thread := range []string{"one", "two"} {
			got = append(got, p.waits(p.Context(), p.golang, "await"), p.waits(p.Context(), p.java(thread), "await"))
			p.parked(thread)
		}
		p.listeningTo(p.channel, 2)
		for i := range 4 {
			for _, one := range got {
				select {
				case <-one:
					p.Fatalf("it opens after %d of 4, set by %s", i, who)
				default:
				}
			}
			p.says("", s[i%2], "countdown")
		}
		for _, one := range got {
			p.soon("who awaits", one)
		}
	}
}

// lateZero tells a 0 while the count is above 0, as a client of another sort may. Redisson's awaiter then asks without a pause
// and does not look at its limit until the next message; Go's looks once, and keeps its limit.
func lateZero(p *numbers) {
	p.says("true", p.golang, "trysetcount", 1)
	got := p.waits(p.Context(), p.golang, "awaitfor", 2*time.Second)
	p.listeningTo(p.channel, 1)
	gets := func() int64 { return calls(p, "get") }
	from := gets()
	p.Do("PUBLISH", p.channel, "0")
	if e := p.soon("a Go awaiter with a limit", got); e.said != "false" {
		p.Errorf("it answered %q", e.said)
	}
	// Two tries at first, one for the message, one a second.
	if n := gets() - from; n > 20 {
		p.Errorf("a Go awaiter asked %d times in two seconds", n)
	}
	// The same in Java, to see that there is something to be spared.
	limited := p.waits(p.Context(), p.java("limited"), "awaitfor", time.Second)
	p.parked("limited")
	from, began := gets(), time.Now()
	p.Do("PUBLISH", p.channel, "0")
	time.Sleep(3 * time.Second / 2)
	select {
	case e := <-limited:
		p.Logf("%s: %q after %v, and %d questions", p.peer.Version, e.said, e.at.Sub(began), gets()-from)
		limited = nil // its limit was over before the message
	default:
		p.Logf("%s: a limit of a second is not kept after %v, and %d questions", p.peer.Version, time.Since(began), gets()-from)
	}
	p.says("", p.golang, "countdown")
	if limited != nil {
		p.soon("Java's awaiter, when the count is 0", limited)
	}
}

func calls(p *numbers, command string) int64 {
	p.Helper()
	text, err := redis.String(p.Do("INFO", "commandstats"), nil)
	p.Must(err)
	_, after, found := strings.Cut(text, "cmdstat_"+command+":calls=")
	if !found {
		return 0
	}
	var n int64
	for _, c := range after {
		if c < '0' || c > '9' {
			break
		}
		n = 10*n + int64(c-'0')
	}
	return n
}

// deletedUnderAwaiters deletes a latch. Redisson's awaiters are not told; Go's are.
func deletedUnderAwaiters(p *numbers) {
	for who, s := range p.sides() {
		p.says("true", p.golang, "trysetcount", 5)
		got := p.waits(p.Context(), p.golang, "await")
		p.listeningTo(p.channel, 1)
		p.says("true", s[0], "delete")
		p.soon("who awaits in Go what "+who+" deletes", got)
	}
	ctx, cancel := context.WithCancel(p.Context())
	p.says("true", p.java("acts"), "trysetcount", 1)
	got := p.waits(ctx, p.golang, "await")
	p.listeningTo(p.channel, 1)
	cancel()
	if e := <-got; !errors.Is(e.err, context.Canceled) {
		p.Errorf("cancelled: %v", e.err)
	}
	p.says("", p.java("acts"), "countdown")
}
