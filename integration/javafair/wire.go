package javafair

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/integration/javapeer"
	"github.com/rlock-go/redisson/rlock"
)

// tolerance is for what passes with time, between two sides that play one after the other. Scenes' times are further apart.
// By how much one side's steps took longer than the other's comes on top.
const tolerance = 1500 * time.Millisecond

// play is one side in one scene.
type play struct {
	*rig
	side
	golang  bool
	version string // of Redisson, whichever side plays
	seen    []state
	ends    map[string]chan error
	began   time.Time
}

func (p *play) see(step string, args ...any) {
	s := p.look(fmt.Sprintf(step, args...))
	s.after = time.Since(p.began)
	p.seen = append(p.seen, s)
}

// enters has somebody acquire at once.
func (p *play) enters(who string, lease time.Duration) {
	p.Helper()
	p.Must(p.acquire(who, 0, lease))
	p.see("%s enters", who)
}

// waits has somebody stand as the n-th in the queue.
func (p *play) waits(who string, n int, wait time.Duration) {
	p.Helper()
	end := make(chan error, 1)
	p.ends[who] = end
	go func() { end <- p.acquire(who, wait, 0) }()
	p.stands(n)
	p.see("%s waits", who)
}

// ended is how a wait has ended.
func (p *play) ended(who string) error {
	p.Helper()
	select {
	case err := <-p.ends[who]:
		return err
	case <-time.After(patience):
		p.Fatalf("%s waits on", who)
	}
	return nil
}

// releases has somebody unlock, and another enter; "" for nobody.
func (p *play) releases(who, next string) {
	p.Helper()
	p.Must(p.unlock(who))
	if next != "" {
		p.Must(p.ended(next))
	}
	p.stands(len(p.queue()))
	p.see("%s releases", who)
}

// notHeld unlocks what somebody does not hold. Java says nothing of a lock that nobody holds.
func (p *play) notHeld(who string, silent bool) {
	p.Helper()
	err := p.unlock(who)
	switch {
	case p.golang && !errors.Is(err, rlock.ErrNotHeld), !p.golang && (err == nil) != silent:
		p.Errorf("%s unlocks: %v", who, err)
	}
}

func (p *play) stranger(ms int64) {
	const owner = "550e8400-e29b-41d4-a716-446655440000:31"
	p.Do("RPUSH", codec.FairQueue(name), owner)
	if ms != 0 {
		p.Do("ZADD", codec.FairTimes(name), time.Now().UnixMilli()+ms, owner)
	}
}

const (
	long   = time.Minute
	oldest = 5 * time.Second // what Redisson 3.11.6 sends as the time of every waiter
)

// before tells whether a release is older than another. As texts they have that order.
func before(version, other string) bool { return version < other }

var scenes = map[string]func(p *play){
	"free lock": func(p *play) {
		p.enters("a", long)
		p.releases("a", "")
		p.Must(p.acquire("b", -1, 0))
		p.see("b tries")
		p.releases("b", "")
	},
	"queue of three in order": func(p *play) {
		p.enters("a", long)
		p.waits("b", 1, 0)
		p.waits("c", 2, 40*time.Second)
		p.waits("d", 3, 0)
		p.releases("a", "b")
		p.releases("b", "c")
		p.releases("c", "d")
		p.releases("d", "")
	},
	"waiter between others whose time is over": func(p *play) {
		p.enters("a", long)
		p.waits("b", 1, 100*time.Second)
		p.waits("c", 2, 3*time.Second)
		p.waits("d", 3, 100*time.Second)
		if err := p.ended("c"); !errors.Is(err, errLocked) {
			p.Errorf("c: %v", err)
		}
		p.stands(2)
		p.see("c gives up")
		p.releases("a", "b")
		p.releases("b", "d")
		p.releases("d", "")
	},
	"head whose time is over": func(p *play) {
		p.enters("a", long)
		p.waits("b", 1, 3*time.Second)
		p.waits("c", 2, 0)
		if err := p.ended("b"); !errors.Is(err, errLocked) {
			p.Errorf("b: %v", err)
		}
		p.stands(1)
		p.see("b gives up")
		p.releases("a", "c")
		p.releases("c", "")
	},
	"one attempt beside a queue": func(p *play) {
		p.enters("a", long)
		p.waits("b", 1, 0)
		if err := p.acquire("c", -1, 0); !errors.Is(err, errLocked) {
			p.Errorf("c: %v", err)
		}
		p.see("c tries")
		p.releases("a", "b")
		p.releases("b", "")
	},
	"one attempt with a time of 0": func(p *play) { // by which Java queues, and gives up
		p.enters("a", long)
		p.waits("b", 1, 0)
		if err := p.acquire("c", noTime, 0); !errors.Is(err, errLocked) {
			p.Errorf("c: %v", err)
		}
		p.see("c tries")
		p.releases("a", "b")
		p.releases("b", "")
	},
	"re-entry with a queue": func(p *play) {
		p.enters("a", 0)
		p.waits("b", 1, 0)
		p.Must(p.reenter("a"))
		p.see("a re-enters")
		p.releases("a", "")
		p.releases("a", "b")
		p.releases("b", "")
	},
	"unlock by a stranger": func(p *play) {
		p.enters("a", long)
		p.stranger(200_000)
		p.notHeld("b", false)
		p.see("a stranger unlocks")
	},
	"unlock of a lock that is gone": func(p *play) {
		p.enters("a", long)
		p.stranger(200_000)
		p.Do("DEL", name)
		p.notHeld("a", true)
		p.see("a unlocks")
	},
	"force with a queue": func(p *play) {
		p.enters("a", long)
		p.stranger(200_000)
		if !p.force() {
			p.Error("not forced")
		}
		p.see("forced")
		if p.force() {
			p.Error("forced what is free")
		}
		p.see("forced again")
	},
	"dead heads with old times": func(p *play) {
		p.stranger(-10_000)
		p.enters("a", long)
		p.stranger(-20_000)
		p.waits("b", 1, 0)
		p.releases("a", "b")
		p.releases("b", "")
	},
	"head without a time": func(p *play) {
		p.stranger(0)
		err := p.acquire("a", -1, 0)
		if e, java := errors.AsType[*javapeer.JavaError](err); !errors.Is(err, errLocked) &&
			!(java && e.Class == "org.redisson.client.RedisException" && before(p.version, "3.37")) {
			p.Errorf("a: %v", err)
		}
		p.see("a tries")
		p.Do("DEL", codec.FairQueue(name)) // behind it, force of Redisson before 3.37 never ends
	},
	"lock without a TTL": func(p *play) {
		p.enters("a", long)
		p.Do("PERSIST", name)
		p.waits("b", 1, 60*time.Second)
		p.releases("a", "b")
		p.releases("b", "")
	},
	"times of those who have no place": func(p *play) {
		p.Do("ZADD", codec.FairTimes(name), time.Now().UnixMilli()+900_000, "550e8400-e29b-41d4-a716-446655440000:7")
		p.enters("a", long)
		p.releases("a", "")
	},
}

// differs are the differences that are there on purpose, by scene and what only one side has.
var differs = map[string]string{
	"head without a time, a tries, go only: redisson_lock__channel:{tickets}:OWNER1 says 0": "whoever finds the lock free tells the head",
}

// OnTheWire has Go and a release of Redisson play each scene, as a subtest of t, and tells how many were alike.
func OnTheWire(t *testing.T, version string) (alike int) {
	r := newRig(t)
	java, golang := newJavaSide(t, version, r.Server.URL()), newGoSide(t, r.Server.URL())
	if version == javapeer.Oldest {
		golang = newGoSide(t, r.Server.URL(), rlock.WithFairWait(oldest))
		golang.everyWait = oldest
	}
	for scene, act := range scenes {
		if t.Run(scene, func(t *testing.T) {
			lines := compare(acted(t, r, java, version, act), acted(t, r, golang, version, act))
			for i, line := range lines {
				lines[i] = scene + ", " + line
				if differs[lines[i]] == "" {
					t.Error(line)
				}
			}
			for what := range differs {
				if strings.HasPrefix(what, scene+", ") && !slices.Contains(lines, what) {
					t.Errorf("no difference any more: %s", what)
				}
			}
		}) {
			alike++
		}
	}
	return alike
}

func acted(t *testing.T, r *rig, s side, version string, act func(*play)) []state {
	p := &play{rig: &rig{r.For(t)}, side: s, version: version, ends: map[string]chan error{}, began: time.Now()}
	_, p.golang = s.(*goSide)
	p.Anew() // others played before
	act(p)
	p.force()
	return p.seen
}

// compare tells what differs, step by step.
func compare(java, golang []state) (lines []string) {
	if len(java) != len(golang) {
		return []string{fmt.Sprintf("%d steps and %d", len(java), len(golang))}
	}
	slack, last := tolerance, [2]time.Duration{}
	for i, j := range java {
		g := golang[i]
		slack += (j.after - last[0] - (g.after - last[1])).Abs()
		last = [2]time.Duration{j.after, g.after}
		for _, line := range j.exact {
			if !slices.Contains(g.exact, line) {
				lines = append(lines, fmt.Sprintf("%s, java only: %s", j.step, line))
			}
		}
		for _, line := range g.exact {
			if !slices.Contains(j.exact, line) {
				lines = append(lines, fmt.Sprintf("%s, go only: %s", j.step, line))
			}
		}
		if strings.Join(j.passes, ",") != strings.Join(g.passes, ",") {
			lines = append(lines, fmt.Sprintf("%s: java has %q, go %q", j.step, j.passes, g.passes))
			continue
		}
		for k, what := range j.passes {
			if d := time.Duration(j.ms[k]-g.ms[k]) * time.Millisecond; d.Abs() > slack {
				lines = append(lines, fmt.Sprintf("%s: %s: java %d ms, go %d ms", j.step, what, j.ms[k], g.ms[k]))
			}
		}
	}
	return lines
}
