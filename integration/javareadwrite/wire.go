package javareadwrite

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/javapeer"
)

// tolerance is for TTLs of two sides that play one after the other. Scenes' leases are further apart. By how much one side's
// steps took longer than the other's comes on top.
const tolerance = 1500 * time.Millisecond

// play is one side in one scene.
type play struct {
	*rig
	side
	version string
	java    bool
	seen    []state
	steps   []string
	began   time.Time
}

func (p *play) see(step string) {
	s := p.look()
	s.after = time.Since(p.began)
	p.steps, p.seen = append(p.steps, step), append(p.seen, s)
}

func (p *play) locks(who string, k javapeer.Kind, lease time.Duration) {
	p.Helper()
	p.Must(p.lock(who, k, lease))
	p.see(fmt.Sprintf("%s locks to %s", who, k))
}

func (p *play) unlocks(who string, k javapeer.Kind) {
	p.Helper()
	p.Must(p.unlock(who, k))
	p.see(fmt.Sprintf("%s unlocks its %s", who, k))
}

func (p *play) refused(who string, k javapeer.Kind) {
	p.Helper()
	if p.try(who, k) {
		p.Errorf("%s could %s", who, k)
	}
	p.see(fmt.Sprintf("%s tries to %s", who, k))
}

// finds has an unlock find nothing. Redisson before 3.52 does not say so where there is no lock.
func (p *play) finds(who string, k javapeer.Kind) {
	p.Helper()
	if err := p.unlock(who, k); !notHeld(err) && !(p.java && err == nil && before(p.version, "3.52") && len(p.fields()) == 0) {
		p.Errorf("%s unlocks its %s: %v", who, k, err)
	}
	p.see(fmt.Sprintf("%s unlocks a %s it has not", who, k))
}

func (p *play) forces(k javapeer.Kind, want bool) {
	p.Helper()
	if p.force(k) != want {
		p.Errorf("forced the %s lock: %v", k, !want)
	}
	p.see(fmt.Sprintf("the %s lock is forced", k))
}

// scene is what both sides play. differs are the steps whose outcome has to differ, and why.
type scene struct {
	name    string
	lock    string
	play    func(p *play)
	differs map[string]string
}

const minute = time.Minute

// before tells whether a release is older than another. As texts they have that order.
func before(version, other string) bool { return version < other }

var scenes = []scene{
	{name: "two readers, counts and TTLs", play: func(p *play) {
		p.locks("a", read, 20*time.Second)
		p.locks("b", read, 40*time.Second)
		p.locks("a", read, 30*time.Second)
		p.unlocks("b", read)
		p.locks("b", read, 10*time.Second)
		p.refused("c", write)
		p.unlocks("a", read)
		p.unlocks("a", read)
		p.unlocks("b", read)
	}},
	{name: "reader with the watchdog's lease", play: func(p *play) {
		p.locks("a", read, 0)
		p.locks("a", read, 0)
		p.unlocks("a", read)
		p.unlocks("a", read)
	}},
	{name: "writer", play: func(p *play) {
		p.locks("a", write, 0)
		p.refused("b", write)
		p.refused("b", read)
		p.unlocks("a", write)
		p.locks("b", write, minute)
		p.unlocks("b", write)
	}},
	{name: "writer again", play: func(p *play) {
		p.locks("a", write, 0)
		p.locks("a", write, 0)
		p.unlocks("a", write)
		p.unlocks("a", write)
	}, differs: map[string]string{"a locks to write": "Redisson adds the lease to what the lock had"}},
	{name: "writer that reads", play: func(p *play) {
		p.locks("a", write, 0)
		p.locks("a", read, 0)
		p.refused("b", read)
		p.unlocks("a", read)
		p.unlocks("a", write)
	}},
	{name: "writer that reads twice", play: func(p *play) {
		p.locks("a", write, minute)
		p.locks("a", read, 4*time.Second)
		p.locks("a", read, 4*time.Second)
		p.unlocks("a", read)
		p.unlocks("a", read)
		p.unlocks("a", write)
	}, differs: map[string]string{
		"a locks to read":    "Go gives each hold what the owner needs",
		"a unlocks its read": "Redisson cuts the write lease to that of a read",
	}},
	{name: "downgrade", play: func(p *play) {
		p.locks("a", write, 0)
		p.locks("a", read, 0)
		p.unlocks("a", write)
		p.locks("b", read, 0)
		p.unlocks("a", read)
		p.unlocks("b", read)
	}, differs: map[string]string{"a unlocks its write": "Redisson tells nobody, and readers wait on"}},
	{name: "unlocks that find nothing", play: func(p *play) {
		p.finds("c", read)
		p.finds("c", write)
		p.locks("a", read, minute)
		p.finds("c", read)
		p.finds("c", write)
		p.unlocks("a", read)
		p.locks("a", write, minute)
		p.finds("c", read)
		p.finds("c", write)
		p.unlocks("a", write)
	}},
	{name: "force", play: func(p *play) {
		p.forces(read, false)
		p.forces(write, false)
		p.locks("a", write, minute)
		p.forces(read, false)
		p.forces(write, true)
		p.locks("b", read, minute)
		p.forces(write, false)
		p.forces(read, true)
	}, differs: map[string]string{"the read lock is forced": "Redisson leaves the keys of the holds"}},
	{name: "a hold that has ended beside another", play: func(p *play) {
		p.locks("a", read, minute)
		p.locks("b", read, time.Second)
		p.Eventually("its end", func() bool { return len(p.look().ttls) == 2 })
		p.refused("c", write)
		p.unlocks("a", read)
	}},
	{name: "name with a tag", lock: "{order}:17", play: func(p *play) {
		p.locks("a", read, minute)
		p.locks("a", read, minute)
		p.unlocks("a", read)
		p.unlocks("a", read)
		p.locks("a", write, minute)
		p.unlocks("a", write)
	}},
}

// differences are what two sides left on the server after a step.
func differences(java, golang state, slack time.Duration) (all []string) {
	if !slices.Equal(java.exact, golang.exact) {
		all = append(all, fmt.Sprintf("Java\n\t%s\nGo\n\t%s", strings.Join(java.exact, "\n\t"), strings.Join(golang.exact, "\n\t")))
	}
	for key, j := range java.ttls {
		if g := golang.ttls[key]; g != 0 && max(j-g, g-j) > slack.Milliseconds() {
			all = append(all, fmt.Sprintf("TTL of %s: Java %d, Go %d", key, j, g))
		}
	}
	return all
}

// OnTheWire has Go and a release of Redisson play each scene, and tells how many.
func OnTheWire(t *testing.T, version string) int {
	r := newRig(t, "")
	javas, gos := newJavaSide(t, version, r.Server.URL(), ""), newGoSide(t, r.Server.URL(), "")
	for i, sc := range scenes {
		r.name = sc.lock
		if r.name == "" {
			r.name = fmt.Sprint("doc", i)
		}
		javas.name, gos.name = r.name, r.name
		playing := func(p *play) *play {
			r.Anew()
			p.began = time.Now()
			sc.play(p)
			return p
		}
		java := playing(&play{rig: r, side: javas, version: version, java: true})
		compare(t, sc, java, playing(&play{rig: r, side: gos}))
	}
	return len(scenes)
}

// compare fails t for a step that differs and may not, or does not and must.
func compare(t *testing.T, sc scene, java, golang *play) {
	t.Helper()
	differs := map[string]bool{}
	slack, last := tolerance, [2]time.Duration{}
	for i, step := range java.steps {
		j, g := java.seen[i], golang.seen[i]
		slack += (j.after - last[0] - (g.after - last[1])).Abs()
		last = [2]time.Duration{j.after, g.after}
		found := differences(j, g, slack)
		if sc.differs[step] != "" {
			differs[step] = differs[step] || len(found) > 0
		} else if len(found) > 0 {
			t.Errorf("%s, %d: %s: %s", sc.name, i, step, strings.Join(found, "\n"))
		}
	}
	for step, why := range sc.differs {
		if !differs[step] {
			t.Errorf("%s: %s: nothing differs, though %s", sc.name, step, why)
		}
	}
}
