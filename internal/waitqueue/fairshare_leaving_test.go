package waitqueue

import (
	"testing"
	"time"
)

// TestASlowClientThatComesAndGoes shows that a slow client gets its share while it is there, and
// costs next to nothing while it is not.
func TestASlowClientThatComesAndGoes(t *testing.T) {
	const phase = time.Second
	busy := work{workers: 4, hold: ms}
	present := func(now time.Duration) bool { return now/phase%2 == 0 }
	away := func(now time.Duration) time.Duration {
		if present(now) {
			return 0
		}
		return phase - now%phase
	}
	s := newSimulation(1)
	quicks := []*quick{newQuick(s, busy, true, usualRow), newQuick(s, busy, true, usualRow)}
	guest := newSlow(s, busy, jvm(s))
	guest.away = away
	var all, theirs [2]int // acquisitions while the guest is there, and while it is not
	const each = 4
	count := func() (a, g int) { return quicks[0].grants + quicks[1].grants + guest.grants, guest.grants }
	for i := range 2 * each {
		// The effects of the phase before are left out.
		s.run(s.now + 200*ms)
		a, g := count()
		s.run(s.now + phase - 200*ms)
		b, h := count()
		all[i%2] += b - a
		theirs[i%2] += h - g
	}
	atLeast(t, "its share while it is there, in percent", 100*float64(theirs[0])/float64(all[0]), 15)
	if theirs[1] != 0 {
		t.Errorf("%d acquisitions while it is away", theirs[1])
	}
	base := mix{quick: 2, quickly: busy}.simulate(false).rate
	rate := float64(all[1]) / each / (phase - 200*ms).Seconds()
	atLeast(t, "the total while it is away, in percent", 100*rate/base, 95)
	t.Logf("share while there %.1f %%, total while away %.1f %%", 100*float64(theirs[0])/float64(all[0]), 100*rate/base)
}

// TestCountingIsRare shows that a client that is alone, or leaves the lock alone, hardly asks for
// the number of clients. One that is not alone asks at most every 50 ms.
func TestCountingIsRare(t *testing.T) {
	busy := work{workers: 4, hold: ms}
	for _, r := range []struct {
		name string
		mix  mix
		most int // a second
	}{
		{"alone", mix{quick: 1, quickly: busy}, 2},
		{"one worker alone", mix{quick: 1, quickly: work{workers: 1, hold: ms}}, 2},
		{"one worker that thinks", mix{quick: 1, quickly: work{workers: 1, hold: ms, think: 20 * ms}}, 0},
		{"with others", mix{quick: 2, slow: 1, quickly: busy, slowly: busy}, 20},
	} {
		o := r.mix.simulate(true)
		got := float64(o.quicks[0].counts) / (settling + measured).Seconds()
		atMost(t, r.name+": counts a second", got, float64(r.most))
		if r.most > 0 && got == 0 {
			t.Errorf("%s: never counted", r.name)
		}
	}
}
