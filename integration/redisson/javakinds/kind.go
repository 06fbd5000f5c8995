package javakinds

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/integration/redisson/alike"
	"github.com/rlock-go/redisson/rlock"
)

// atOnce bounds the wait of a waiter that a message wakes. One that missed it enters later.
const atOnce = 3 * time.Second

// Kind is a lock object.
type Kind struct {
	Name      string
	of        javapeer.Kind
	scenes    []scene
	tolerance time.Duration // for TTLs of sides that play one after the other; scenes' leases differ by more
	shows     []show
}

// scene is what each side plays alone.
type scene struct {
	name, script string
	lock         string // the object's name, if it matters
	differs      []alike.Differs
}

// show is what both sides play together: a test, or a script that is played twice, with X and Y swapped.
type show struct {
	name, script string
	test         func(p *alike.Play)
}

var Kinds = []Kind{fair, readWrite, permits, semaphores, latches}

// opened starts a server, a Go client and a release's JVM, and returns them as a play.
func opened(t *testing.T, version string) alike.Play {
	t.Helper()
	v := testbed.Hear(t)
	return alike.Play{View: v, Version: version, Most: atOnce, Sides: map[string]alike.Side{
		"G": alike.NewGo(t, v.Server.URL()), "J": alike.NewJava(t, version, v.Server.URL())}}
}

// OnTheWire has Go and a release of Redisson play each scene, as a subtest of t, and returns how many steps it compared.
func (k Kind) OnTheWire(t *testing.T, version string) int { return k.onTheWire(t, opened(t, version)) }

func (k Kind) onTheWire(t *testing.T, p alike.Play) (steps int) {
	p.Kind = k.of
	open := func() *alike.Go {
		var opts []rlock.Option
		old := k.of == javapeer.Fair && p.Version == javapeer.Oldest // it sends 5 s as every waiter's time
		if old {
			opts = append(opts, rlock.WithFairWait(5*time.Second))
		}
		s := alike.NewGo(t, p.Server.URL(), opts...)
		s.Kept, s.CtxWaits = true, old
		return s
	}
	// O names what the first has taken, as another process can; W waits.
	gos := map[string]alike.Side{"": open(), "O": open(), "W": open()}
	javas := map[string]alike.Side{"": p.Sides["J"], "O": p.Sides["J"], "W": p.Sides["J"]}
	for i, sc := range k.scenes {
		t.Run(sc.name, func(t *testing.T) {
			name := sc.lock
			if name == "" {
				name = fmt.Sprint("doc", i)
			}
			golang, java := p.Alone(t, name, sc.script, gos), p.Alone(t, name, sc.script, javas)
			alike.Same(t, java, golang, k.tolerance, sc.differs)
			steps += len(java)
		})
	}
	return steps
}

// BesideJava has Go and a release of Redisson play each show, as a subtest of t, and returns how many they finished.
func (k Kind) BesideJava(t *testing.T, version string) int {
	return k.besideJava(t, opened(t, version))
}

func (k Kind) besideJava(t *testing.T, p alike.Play) (shown int) {
	p.Kind = k.of
	for i, s := range k.shows {
		ok := t.Run(s.name, func(t *testing.T) {
			p := p.For(t, fmt.Sprint("shown", i))
			p.Anew()
			if s.test != nil {
				s.test(p)
			} else {
				both(p, s.script)
			}
			shown++
		})
		if !ok {
			break // what it has left locked would keep the next one waiting
		}
	}
	return shown
}

// both plays a script twice, with Go as X and Java as Y and the other way round.
func both(p *alike.Play, script string, replace ...string) {
	p.Helper()
	p.Run(script, slices.Concat(replace, []string{"X", "G", "Y", "J"})...)
	p.Run(script, slices.Concat(replace, []string{"X", "J", "Y", "G"})...)
}

// victims adds a JVM, V, and a Go client, D, that a test ends.
func victims(p *alike.Play, watchdog time.Duration) {
	p.Helper()
	p.With("V", alike.NewJava(p.T, p.Version, p.Server.URL(), javapeer.WatchdogTimeout(watchdog)))
	p.With("D", alike.NewGo(p.T, p.Server.URL(), rlock.WithWatchdogTimeout(watchdog)))
}

// wakes returns a test in which X holds and releases what Y waits for, 15 times in either direction. A message must wake Y.
func wakes(hold, wait, free, leave string) func(p *alike.Play) {
	return func(p *alike.Play) {
		for _, sides := range [][2]string{{"G", "J"}, {"J", "G"}} {
			of := func(script string) string {
				return strings.NewReplacer("X ", sides[0]+" ", "Y ", sides[1]+" ").Replace(script)
			}
			times := p.Woken(15, of(hold), of(wait), of(free), of(leave))
			slices.Sort(times)
			p.Logf("%s wakes the other, beside %s: p50 %v, max %v", sides[0], p.Version, times[len(times)/2], times[len(times)-1])
		}
	}
}
