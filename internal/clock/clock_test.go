package clock

import (
	"testing"
	"time"
)

func TestSystemClockNeverGoesBack(t *testing.T) {
	c := System()
	last := c.Now()
	for range 1000 {
		now := c.Now()
		if now < last {
			t.Fatalf("went from %v back to %v", last, now)
		}
		last = now
	}
}

func TestSystemClockRunsWithTheMonotonicOne(t *testing.T) {
	c, m := System(), Monotonic()
	c0, m0 := c.Now(), m.Now()
	for m.Now()-m0 < 20*time.Millisecond {
	}
	dm := m.Now() - m0
	dc := c.Now() - c0
	if dc < dm {
		t.Fatalf("system clock advanced %v while the monotonic one advanced %v", dc, dm)
	}
}
