package javapermits

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
)

// story is what one side does on a server of its own. After each step the state is looked at.
type story struct {
	*rig
	version string
	// other can name the first's permits, as another process can; so can waiter, who waits.
	s, other, waiter side
	ids              map[string][]string
	waits            chan []string
	seen             []state
}

func (y *story) take(as string, n int, lease time.Duration) {
	y.Helper()
	ids, err := y.s.take(y.Context(), n, lease)
	y.Must(err)
	y.ids[as] = ids
}

// ends has the time of a permit be over.
func (y *story) ends(as string) {
	y.Helper()
	y.Must(y.other.lease(y.Context(), y.ids[as][0], time.Millisecond))
	y.Eventually("the end of "+as, func() bool {
		over, err := redis.Int(y.Do("ZCOUNT", codec.PermitTimes(name), 0, y.now()), nil)
		return err == nil && over == 1
	})
}

// refused wants an error.
func (y *story) refused(what string, err error) {
	y.Helper()
	if err == nil {
		y.Error(what)
	}
}

// says notes what a call answered, beside the state.
func (y *story) says(what any) {
	y.seen[len(y.seen)-1].exact = append(y.seen[len(y.seen)-1].exact, fmt.Sprint(what))
}

// scene is one step. since is the first release that can do it.
var scenes = []struct {
	what, since string
	do          func(y *story)
	after       func(y *story) // adds to what is seen
}{
	{"set", "", func(y *story) { y.Must(y.s.set(y.Context(), "trysetpermits", 3)) }, nil},
	{"set again", "", func(y *story) { y.Must(y.s.set(y.Context(), "trysetpermits", 5)) }, nil},
	{"take", "", func(y *story) { y.take("a", 1, half) }, nil},
	{"take for longer", "", func(y *story) { y.take("b", 1, 2*half) }, nil},
	{"extend", "", func(y *story) { y.Must(y.s.lease(y.Context(), y.ids["a"][0], 3*half)) }, nil},
	{"release one", "", func(y *story) { y.Must(y.s.release(y.Context(), y.ids["a"]...)) }, nil},
	{"release it again", "", func(y *story) {
		if err := y.s.release(y.Context(), y.ids["a"]...); err == nil {
			y.Error("released twice")
		}
	}, nil},
	{"take all", "", func(y *story) { y.take("c", 1, half); y.take("d", 1, half) }, nil},
	{"too few", "", func(y *story) {
		if ids, err := y.s.try(y.Context(), 100*time.Millisecond); len(ids) > 0 || err != nil {
			y.Errorf("there is one: %v, %v", ids, err)
		}
	}, nil},
	{"counts", "", func(*story) {}, func(y *story) {
		n, err := y.s.counts(y.Context())
		y.Must(err)
		y.says(n[0])
	}},
	{"fewer by one", "", func(y *story) { y.Must(y.s.set(y.Context(), "addpermits", -1)) }, nil},
	{"more", "", func(y *story) { y.Must(y.s.set(y.Context(), "addpermits", 3)) }, nil},
	{"a total below what is taken", "3.21", func(y *story) { y.Must(y.s.set(y.Context(), "setpermits", 2)) }, nil},
	{"the same total", "3.22", func(y *story) { y.Must(y.s.set(y.Context(), "setpermits", 2)) }, nil},
	{"release below nothing", "", func(y *story) { y.Must(y.s.release(y.Context(), y.ids["b"]...)) }, nil},
	{"a total", "3.21", func(y *story) { y.Must(y.s.set(y.Context(), "setpermits", 6)) }, nil},
	{"take several", "3.27", func(y *story) { y.take("e", 3, 2*half) }, nil},
	{"release several", "3.27", func(y *story) { y.Must(y.s.release(y.Context(), y.ids["e"]...)) }, nil},
	{"an end of the semaphore is the permits' too", "3.16", func(y *story) {
		y.Do("PEXPIRE", name, 60_000)
		y.take("f", 1, half)
	}, nil},
	{"the time of one is over", "", func(y *story) { y.take("g", 1, half); y.ends("g"); y.take("h", 1, half) }, nil},
	{"to count takes it back", "", func(y *story) {
		y.take("i", 1, half)
		y.ends("i")
		_, err := y.s.counts(y.Context())
		y.Must(err)
	}, nil},
	// Redisson up to 3.16 says that it has released it.
	{"release one whose time is over", "", func(y *story) {
		y.take("j", 1, half)
		y.ends("j")
		if err := y.other.release(y.Context(), y.ids["j"]...); err == nil && !hexIDs(y.version) {
			y.Error("released, though its time was over")
		}
	}, nil},
	{"release that again", "", func(y *story) {
		y.refused("released twice", y.other.release(y.Context(), y.ids["j"]...))
	}, nil},
	{"extend what was released", "", func(y *story) {
		y.refused("extended what nobody has", y.other.lease(y.Context(), y.ids["j"][0], half))
	}, nil},
	{"take the rest", "", func(y *story) {
		for n, _ := redis.Int(y.Do("GET", name), nil); n > 0; n-- {
			y.take(fmt.Sprint("k", n), 1, half)
		}
	}, nil},
	{"wait for one", "", func(y *story) { y.wait(1) }, nil},
	{"its time is over while another waits", "", func(y *story) {
		y.Must(y.other.lease(y.Context(), y.ids["k1"][0], time.Millisecond))
		// Who waits was told when the first would end, and that was later: a count takes the permit back and tells it.
		y.Eventually("a permit that is back", func() bool {
			_, err := y.other.counts(y.Context())
			return err == nil && len(y.waits) > 0
		})
		y.ids["l"] = <-y.waits
	}, nil},
	{"wait for two", "3.27", func(y *story) { y.wait(2) }, nil},
	{"one comes back, which is too few", "3.27", func(y *story) {
		tried := y.tries()
		y.Must(y.s.release(y.Context(), y.ids["l"]...))
		if !before(y.version, "3.52") { // older ones wait for a message of two
			y.Eventually("a try", func() bool { return y.tries() > tried })
		}
	}, nil},
	{"another comes back", "3.27", func(y *story) {
		y.Must(y.s.release(y.Context(), y.ids["k2"]...))
		select {
		case y.ids["m"] = <-y.waits:
		case <-y.Context().Done():
			y.Fatal("two are free, and nobody enters")
		}
	}, nil},
	{"release several of which one is back", "3.52", func(y *story) {
		y.refused("released one twice", y.s.release(y.Context(), y.ids["m"][0], y.ids["l"][0]))
	}, nil},
	{"delete", "", func(y *story) { y.Must(y.s.delete(y.Context())) }, nil},
}

// wait has somebody wait for n permits.
func (y *story) wait(n int) {
	y.Helper()
	y.listens(func() <-chan []string {
		go func() {
			ids, err := y.waiter.take(y.Context(), n, half)
			if err != nil {
				y.Error(err)
			}
			y.waits <- ids
		}()
		return nil
	})
}

// tell has one side do all that the release can.
func tell(version string, r *rig, s, other, waiter side) (what []string, seen []state) {
	y := &story{rig: r, version: version, s: s, other: other, waiter: waiter, ids: map[string][]string{}, waits: make(chan []string, 1)}
	for _, scene := range scenes {
		if before(version, scene.since) {
			continue
		}
		scene.do(y)
		y.seen = append(y.seen, r.look())
		if scene.after != nil {
			scene.after(y)
		}
		what = append(what, scene.what)
	}
	return what, y.seen
}

// idSize is how long an id is on the server.
func idSize(version string) int {
	if hexIDs(version) {
		return 32
	}
	return 16
}

// OnTheWire has Go and a release of Redisson do the same on a server each, and tells how many steps that were. Keys, members,
// scores, TTLs and messages are the same after each, whoever takes it.
func OnTheWire(t *testing.T, version string) int {
	inGo, inJava := newRig(t), newRig(t)
	url := inGo.Server.URL()
	what, golang := tell(version, inGo, newGoSide(t, url), newGoSide(t, url), newGoSide(t, url))
	main := newJavaSide(t, version, inJava.Server.URL())
	inJava = inJava.of(t) // the JVM took some time
	_, java := tell(version, inJava, main, main.on("other"), main.on("waiter"))
	for i := range what {
		if g := texts(golang[i], 16); !slices.Equal(g, texts(java[i], idSize(version))) {
			t.Errorf("%s: Go leaves\n\t%q\nJava\n\t%q", what[i], golang[i].exact, java[i].exact)
		}
		if !slices.Equal(slices.Sorted(maps.Keys(golang[i].times)), slices.Sorted(maps.Keys(java[i].times))) {
			t.Errorf("%s: Go has the times %v, Java %v", what[i], golang[i].times, java[i].times)
		}
		for of, ms := range golang[i].times {
			// A slow machine takes seconds between two steps; the leases differ by half a minute.
			if apart := ms - java[i].times[of]; apart < -12_000 || apart > 12_000 || ms < 0 != (java[i].times[of] < 0) {
				t.Errorf("%s: Go's %s is %d, Java's %d", what[i], of, ms, java[i].times[of])
			}
		}
	}
	return len(what)
}

// texts is what was seen, with the size of an id, which releases of Redisson differ in, as that alone.
func texts(s state, size int) (all []string) {
	for _, text := range s.exact {
		all = append(all, strings.ReplaceAll(text, fmt.Sprintf("an id of %d bytes", size), "an id"))
	}
	return all
}
