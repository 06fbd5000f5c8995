package wire

import (
	"errors"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/javapeer"
	"github.com/rlock-go/redisson/integration/redisserver"
	"github.com/rlock-go/redisson/rlock"
)

// plays is how often a scenario is tried that the machine was too slow for.
const plays = 6

// benches are servers with a Redisson each, one for each watchdog timeout, which is a client's and not a lock's.
type benches struct {
	t       *testing.T
	version string
	server  func(testing.TB) *redisserver.LocalServer // nil in a place
	place   *Place                                    // nil for one server
	by      map[time.Duration]*bench
}

type bench struct {
	rig  *rig
	java *javaSide
}

// on gives the bench for a scenario; what goes wrong on it fails t.
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
			b.rig = newRig(bs.t, bs.server(bs.t))
		}
		b.java = newJava(b.rig, bs.version, options...)
		bs.by[sc.lease()] = b
	}
	b.rig.T = t
	t.Cleanup(func() { b.rig.T = bs.t })
	return b
}

// playJava records Redisson.
func (b *bench) playJava(sc scenario) trace {
	b.rig.T.Helper()
	var last trace
	for range plays {
		b.rig.play(javas, b.java.proxies, sc)
		b.java.use(sc.kind)
		err := sc.java(b.java, b.rig.place.key(sc))
		recorded := b.rig.finish(sc)
		if err == nil {
			err = b.rig.lapsed(sc.lease())
		}
		b.java.release()
		last = normalise(b.java.id, sc, recorded)
		if err == nil && last.late {
			err = errUntimely
		}
		if err == nil {
			return last
		}
		if !errors.Is(err, errUntimely) {
			b.rig.T.Fatal(err)
		}
	}
	b.rig.T.Fatalf("Java: %v, %d times; the last:\n%s", errUntimely, plays, last)
	panic("unreachable")
}

// playGo records package rlock, with a client of its own. In a cluster its releases publish as publish says. altered scripts take the place of the library's.
func (b *bench) playGo(sc scenario, publish rlock.Publish, altered ...Altered) trace {
	b.rig.T.Helper()
	var last trace
	for range plays {
		s := b.newGo(sc, publish, altered)
		b.rig.play(gos, s.proxies, sc)
		err := sc.golang(s, b.rig.place.key(sc))
		recorded := b.rig.finish(sc)
		if err == nil {
			err = b.rig.lapsed(sc.lease())
		}
		s.client.Close()
		s.closeProxies()
		last = normalise(s.id, sc, recorded)
		if err == nil && last.late {
			err = errUntimely
		}
		if err == nil {
			return last
		}
		if !errors.Is(err, errUntimely) {
			b.rig.T.Fatal(err)
		}
	}
	b.rig.T.Fatalf("Go: %v, %d times; the last:\n%s", errUntimely, plays, last)
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
