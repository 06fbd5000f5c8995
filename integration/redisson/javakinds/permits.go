package javakinds

import (
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/integration/redisson/alike"
	"github.com/rlock-go/redisson/internal/luasrc"
)

// Releases up to 3.16 keep ids as hex text. They can't name Go's ids, while Go can name theirs.
var permits = Kind{
	// A slow machine takes seconds between two steps; the leases differ by half a minute.
	Name: "permits", of: "permits", tolerance: 12 * time.Second,
	scenes: []scene{{name: "permits", script: `
		a trysetpermits 3 = true
		a trysetpermits 5 = false
		a acquire 30s > a
		a acquire 60s > b
		a updatelease $a.0 90s
		a release $a
		a release $a = refused
		a acquire 30s > c; a acquire 30s > d
		a tryacquirefor 100ms 30s = null
		a available
		a addpermits -1
		a addpermits 3
		3.21+ a setpermits 2
		3.22+ a setpermits 2
		a release $b
		3.21+ a setpermits 6
		3.27+ a acquiremany 3 60s > e
		3.27+ a releasemany $e
		3.16+ ! PEXPIRE $N 60000; a acquire 30s > f
		a acquire 30s > g; over $g.0; a acquire 30s > h
		a acquire 30s > i; over $i.0; a available
		3.2- a acquire 30s > j; over $j.0; O b release $j = refused|~
		3.2+ a acquire 30s > j; over $j.0; O b release $j = refused
		O b release $j = refused
		O b updatelease $j.0 30s = refused
		rest k
		W w& acquire 30s
		O b updatelease $k1.0 1ms; counted; W w ends > l
		3.27+ W w& acquiremany 2 30s
		3.27+ a release $l; tried
		3.27+ a release $k2; W w ends > m
		3.52+ a releasemany $m.0 $l.0 = refused
		a delete = true|false`}},
	shows: []show{
		{name: "never more than there are", test: ofThree(neverMore)},
		{name: "a release wakes the other", test: ofThree(func(p *alike.Play) {
			p.Run("J a addpermits -2")
			wakes("X a acquire 30s > a", "Y w& acquire 30s", "X a release $a", "Y w release $w")(p)
			p.Run("J a addpermits 2")
		})},
		{name: "what is added wakes the other", test: ofThree(func(p *alike.Play) {
			both(p, `
				X a delete; Y w& acquire 30s; X a addpermits 3; Y w ends > w; Y w release $w
				3.2+ X a delete; Y w& acquire 30s; X a setpermits 3; Y w ends > w; Y w release $w`)
		})},
		{name: "each gives up what the other took", test: ofThree(func(p *alike.Play) {
			p.Run(`
				J a acquire 30s > a; G b release $a; G b release $a = not held; J a tryrelease $a = false
				3.2+ G a acquire 30s > a; J b tryrelease $a = true; G a release $a = not held
				3.2- G a acquire 30s > a; J b tryrelease $a = false; J b updatelease $a 2m = false; G a release $a
				3.27+ J a acquiremany 3 30s > a; are 0 3; G b releasemany $a
				3.27+ G a acquiremany 2 30s > a; J b releasemany $a`)
		})},
		{name: "leases", test: ofThree(func(p *alike.Play) {
			both(p, `
				X a acquire 30s > a; G c leaseleft $a = 15s..30s
				3.52+ J c leaseleft $a = 3s..30.001s
				3.2+ Y b updatelease $a 2m; G c leaseleft $a = 90s..120s
				X a release $a`)
		})},
		// Only a release ends them, and it wakes waiters of both sides.
		{name: "what is taken for ever", test: ofThree(func(p *alike.Play) {
			both(p, `
				J a acquire dog > a; J a acquire dog > b; J a acquire dog > c; G c leaseleft $a = never
				Y w& acquire 30s; X d release $a; Y w ends > w; Y w release $w; X d release $b; X d release $c`)
		})},
		{name: "lost replies", test: ofThree(lostReplies)},
		{name: "those of the dead come back", test: ofThree(deadOnes)},
	},
}

// ofThree runs a test with three permits, all of which must be free at its end.
func ofThree(test func(*alike.Play)) func(*alike.Play) {
	return func(p *alike.Play) {
		p.Run("J a trysetpermits 3 = true")
		test(p)
		p.Run("are 3 0; J a delete")
	}
}

// neverMore has both sides acquire and release some of three permits; never more may be taken at once.
func neverMore(p *alike.Play) {
	var inside, most atomic.Int32
	var wg sync.WaitGroup
	do := func(s alike.Side, who, method string, args ...any) string {
		got, err := s.Do(p.Context(), who, p.Kind, p.Object, method, args...)
		if err != nil {
			p.Error(err)
		}
		return got
	}
	work := func(s alike.Side, who string, n int) {
		for range 15 {
			give := []any{n}
			switch {
			case p.Kind == "semaphore":
				do(s, who, "acquire", n)
			case n > 1:
				give = ids(do(s, who, "acquiremany", n, 30*time.Second))
			default:
				give = ids(do(s, who, "acquire", 30*time.Second))
			}
			now := inside.Add(int32(n))
			for seen := most.Load(); seen < now && !most.CompareAndSwap(seen, now); seen = most.Load() {
			}
			time.Sleep(time.Millisecond)
			inside.Add(int32(-n))
			do(s, who, "release", give...)
		}
	}
	for i, who := range []string{"a", "b", "c"} {
		wg.Go(func() { work(p.Sides["G"], who, 1+i%2) })
		wg.Go(func() { work(p.Sides["J"], who, 1) })
	}
	wg.Wait()
	if n := most.Load(); n > 3 || n < 2 {
		p.Errorf("up to %d permits were taken at once, of 3", n)
	}
}

// ids returns the ids in an acquire's answer.
func ids(answer string) (all []any) {
	for _, id := range strings.Fields(answer) {
		all = append(all, id)
	}
	return all
}

// lostReplies loses a reply of each of Go's scripts. Java's counts must still add up.
func lostReplies(p *alike.Play) {
	proxy := faultproxy.Start(p, p.Server.Addr())
	p.With("L", alike.NewGo(p.T, "redis://"+proxy.Addr()))
	for _, lost := range []struct {
		of     *luasrc.Script
		script string
	}{
		{luasrc.PermitSetScript, "L a addpermits 2; are 5 0"},
		{luasrc.PermitAcquireScript, "L a acquiremany 2 30s > a; are 3 2"},
		{luasrc.PermitReleaseScript, "L a releasemany $a; are 5 0; J a acquire 30s > a"},
		{luasrc.PermitReleaseIDsScript, "L b release $a; are 5 0; J a addpermits -2"},
	} {
		h := proxy.Add(faultproxy.Rule{Match: faultproxy.Script(lost.of.SHA1), Times: 1, Do: faultproxy.CutAfter})
		p.Run(lost.script)
		if h.Hits() != 1 {
			p.Errorf("%d replies of %s were lost", h.Hits(), lost.of.Name)
		}
	}
}

// deadOnes has a client of each side die with permits that the other awaits. The watchdog renews Go's until it dies.
func deadOnes(p *alike.Play) {
	p.Most = testbed.Patience
	victims(p, 4*time.Second)
	p.Run(`
		V a acquire 2s; V a acquire 2s; V a acquire 2s; G w& acquiremany 2 30s; V dies; G w ends > w; G w releasemany $w
		D a acquiremany 3 dog; J w& acquire 30s`)
	until := func() string {
		return p.Strings("ZRANGE", codec.PermitTimes(p.Object), 0, 0, "WITHSCORES")[1]
	}
	first := until()
	p.Becomes("a renewal", func() bool { return until() != first })
	p.Run("none; D dies; J w ends > w; J w release $w")
}
