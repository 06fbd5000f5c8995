package simulation

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/rlock-go/redisson/rlocktest/simnet"
)

// Permits that a fault has taken from a holder, who trusts them still, may be taken by others. No more than there are may.
func TestPermitsThatAFaultHasTakenAreNotCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &play{w: simnet.New(1), res: newResult()}
		p.site = newSite(OneServer, p.w, p.promoted)
		o := &object{Object: Object{Kind: Permits, Name: "object0"}, p: p, total: 4}
		p.objects = append(p.objects, o)
		time.Sleep(time.Second)
		enters := func(permits int) *hold {
			c := &call{o: o, who: "c0w0.0", began: time.Now()}
			return p.entered(c, &hold{o: o, permits: permits, valid: func() bool { return true }, until: time.Now})
		}
		enters(4).void = lostByServer
		enters(2)
		enters(2)
		if len(p.res.Violations) > 0 {
			t.Errorf("four of four are taken: %q", p.res.Violations)
		}
		enters(1)
		if len(p.res.Violations) == 0 {
			t.Error("five of four are taken, and it is no violation")
		}
	})
}
