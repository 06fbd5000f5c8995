package simulation

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/rlock-go/redisson/rlock"
	"github.com/rlock-go/redisson/rlocktest/simnet"
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
