package simulation

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/rlock-go/redisson/rlocktest/simnet"
)

// A client ends its own holds before it sends the command that forces their lock.
func TestAHoldMayEndBeforeItsOwnClientForcesTheLock(t *testing.T) {
	for _, test := range []struct {
		forces     string // the host whose ForceUnlock has no answer yet
		violations int
	}{{"10.1.0.1", 0}, {"10.1.0.2", 1}} {
		t.Run(test.forces, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &play{w: simnet.New(1), res: newResult()}
				p.site = newSite(OneServer, p.w, p.promoted)
				p.lullAt = time.Now()
				time.Sleep(time.Second)
				o := &object{Object: Object{Kind: Plain, Name: "object0"}, p: p}
				p.w.Mu.Lock()
				p.site.master(o.Name).Session("10.1.0.1").Do("HSET", o.Name, "owner", "1")
				p.w.Mu.Unlock()
				o.holds = append(o.holds, &hold{
					o: o, owner: "owner", life: &life{host: "10.1.0.1"}, renewed: true, began: time.Now(), valid: func() bool { return false },
				})
				o.calls = append(o.calls, &call{o: o, what: "ForceUnlock", host: test.forces})
				p.judgeKept(o)
				if len(p.res.Violations) != test.violations {
					t.Errorf("violations %q, expected %d", p.res.Violations, test.violations)
				}
			})
		})
	}
}
