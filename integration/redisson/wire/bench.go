package wire

import (
	"cmp"
	"errors"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/rlock"
)

// plays is how often a scenario is tried while the machine is too slow for it.
const plays = 6

// benches are servers with a Redisson each, one for each watchdog timeout, which is set for a client, not for a lock.
type benches struct {
	t       *testing.T
	version string
	place   *Place // nil for one server
	by      map[time.Duration]*bench
}

type bench struct {
	rig  *rig
	java *javaSide
}

// on returns the bench for a scenario. What goes wrong on it fails t.
func (bs *benches) on(t *testing.T, sc scenario) *bench {
	b := bs.by[sc.lease()]
	if b == nil {
		var options []javapeer.Option
		if sc.lease() != byDefault {
			options = append(options, javapeer.WatchdogTimeout(sc.lease()))
		}
		b = &bench{}
		if bs.place != nil {
			b.rig = bs.place.rig(bs.t)
		} else {
			b.rig = newRig(bs.t, redisserver.Local(bs.t))
		}
		b.java = newJava(b.rig, bs.version, options...)
		bs.by[sc.lease()] = b
	}
	b.rig.T = t
	t.Cleanup(func() { b.rig.T = bs.t })
	return b
}

func (b *bench) playJava(sc scenario) trace {
	b.rig.T.Helper()
	return b.recorded("Java", func() (trace, error) {
		s := b.java
		b.rig.play(javas, s.proxies, sc)
		release, err := s.plays(sc, b.rig.place.key(sc))
		defer release()
		r, lapsed, unasked := b.rig.finish(sc), b.rig.lapsed(), b.rig.unasked()
		return normalise(s.id, sc, r), cmp.Or(err, lapsed, unasked)
	})
}

// playGo records package rlock, with a new client. In a cluster its releases publish as publish says.
func (b *bench) playGo(sc scenario, publish rlock.Publish, altered ...Altered) trace {
	b.rig.T.Helper()
	return b.recorded("Go", func() (trace, error) {
		s := b.newGo(sc, publish, altered)
		b.rig.play(gos, s.proxies, sc)
		err := s.plays(sc, b.rig.place.key(sc))
		r, lapsed, unasked := b.rig.finish(sc), b.rig.lapsed(), error(nil)
		if len(altered) == 0 { // an altered acquire looks like a renewal
			unasked = b.rig.unasked()
		}
		s.client.Close()
		s.closeProxies()
		return normalise(s.id, sc, r), cmp.Or(err, lapsed, unasked)
	})
}

// recorded returns the trace of a side's first play that was in time.
func (b *bench) recorded(who string, play func() (trace, error)) trace {
	b.rig.T.Helper()
	var last trace
	for range plays {
		var err error
		if last, err = play(); err == nil && !last.late {
			return last
		}
		if err != nil && !errors.Is(err, errUntimely) {
			b.rig.T.Fatal(err)
		}
	}
	b.rig.T.Fatalf("%s: %v, %d times; the last:\n%s", who, errUntimely, plays, last)
	panic("unreachable")
}

func (b *bench) newGo(sc scenario, publish rlock.Publish, altered []Altered) *goSide {
	var options []rlock.Option
	if sc.lease() != byDefault {
		options = append(options, rlock.WithWatchdogTimeout(sc.lease()))
	}
	if p := b.rig.place; p != nil {
		options = append(options, p.options(publish)...)
	}
	return newGo(b.rig, altered, options...)
}
