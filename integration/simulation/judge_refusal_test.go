package simulation

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/rlock-go/redisson/rlock"
	"github.com/rlock-go/redisson/rlocktest/simnet"
	"github.com/rlock-go/redisson/rlocktest/simredis"
)

// The place of a waiter that has just left keeps a try out of a fair lock until the message about it arrives.
func TestATryMayBeRefusedByAPlaceThatGoesMeanwhile(t *testing.T) {
	for _, test := range []struct {
		name       string
		goes       time.Duration // after the call began
		violations int
	}{{"before the call", -time.Millisecond, 1}, {"during the call", time.Millisecond, 0}} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &play{w: simnet.New(1), res: newResult()}
				p.site = newSite(OneServer, p.w, p.promoted)
				o := &object{Object: Object{Kind: Fair, Name: "object0"}, p: p, left: map[string]bool{}}
				p.objects = append(p.objects, o)
				s := p.site.master(o.Name)
				time.Sleep(time.Second)
				p.w.Mu.Lock()
				s.Session("10.1.0.1").Do("RPUSH", queueOf(o.Name), "owner")
				p.look(o, s)
				p.w.Mu.Unlock()
				time.Sleep(time.Second)
				c := &call{o: o, who: "c0w0.0", what: "TryLock"}
				leave := func() {
					p.w.Mu.Lock()
					defer p.w.Mu.Unlock()
					s.Session("10.1.0.1").Do("DEL", queueOf(o.Name))
					p.look(o, s)
				}
				if test.goes < 0 {
					leave()
					time.Sleep(-test.goes)
				}
				c.began = time.Now()
				if test.goes > 0 {
					time.Sleep(test.goes)
					leave()
				}
				p.refused(c, rlock.ErrLocked)
				if len(p.res.Violations) != test.violations {
					t.Errorf("violations %q, expected %d", p.res.Violations, test.violations)
				}
			})
		})
	}
}

// A release reaches nobody whose subscription has broken. A wait may end before its client has subscribed again, or looked.
func TestAWaitMayEndBeforeItsClientHearsOfARelease(t *testing.T) {
	const channel = "redisson_lock__channel:{object0}"
	for _, test := range []struct {
		name           string
		before, behind bool          // whether its client subscribes before the release, or behind it
		free           time.Duration // when the wait ends
		violations     int
	}{
		{"it listened", true, false, time.Millisecond, 1},
		{"it did not listen", false, false, time.Millisecond, 0},
		{"it has had time to look", false, false, 2 * time.Second, 1},
		{"it listens again", false, true, time.Millisecond, 0},
		{"it has listened again for long", false, true, time.Second, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &play{w: simnet.New(1), res: newResult(), traffic: map[string]*traffic{}}
				p.site = newSite(OneServer, p.w, p.promoted)
				o := &object{Object: Object{Kind: Plain, Name: "object0"}, p: p, news: map[string]news{"10.1.0.1": {taken: true}}}
				p.objects = append(p.objects, o)
				s := p.site.master(o.Name)
				caller, listener := s.Session("10.1.0.1"), s.Session("10.1.0.1")
				does := func(on *simredis.Session, args ...string) {
					p.w.Mu.Lock()
					defer p.w.Mu.Unlock()
					on.Do(args...)
					p.judgeTraffic("10.1.0.1", args, nil)
					p.look(o, s)
				}
				time.Sleep(time.Minute)
				does(caller, "HSET", o.Name, "owner", "1")
				if test.before {
					does(listener, "SUBSCRIBE", channel)
				}
				time.Sleep(time.Second)
				does(caller, "DEL", o.Name)
				if test.behind {
					time.Sleep(time.Microsecond)
					does(listener, "SUBSCRIBE", channel)
				}
				time.Sleep(test.free / 2)
				c := &call{o: o, who: "c0w0.0", what: "TryLockFor", host: "10.1.0.1", began: time.Now()}
				time.Sleep(test.free / 2)
				p.refused(c, rlock.ErrLocked)
				if len(p.res.Violations) != test.violations {
					t.Errorf("violations %q, expected %d", p.res.Violations, test.violations)
				}
			})
		})
	}
}
