package clock

import (
	"testing"
	"time"
)

// machine is a boottime clock on a machine that can be put to sleep.
type machine struct {
	c     *boottime
	slept time.Duration // as CLOCK_BOOTTIME counts it
	set   time.Duration // how much the wall clock was set forward, without a suspend
	reads int
}

func newMachine() *machine {
	m := &machine{}
	m.c = newBoottime(func() time.Duration {
		m.reads++
		return readBoottime() + m.slept
	})
	m.reads = 0
	return m
}

// now reads the clock as Now does.
func (m *machine) now() time.Duration {
	t := time.Now()
	return m.c.now(t.Sub(m.c.start), time.Duration(t.UnixNano())+m.slept+m.set)
}

func TestASuspendShowsAtOnce(t *testing.T) {
	for _, slept := range []time.Duration{time.Millisecond, time.Second, 8 * time.Hour} {
		m := newMachine()
		before := m.now()
		m.slept = slept
		if after := m.now(); after < before+slept {
			t.Errorf("after a suspend of %v the clock went from %v to %v", slept, before, after)
		}
	}
}

func TestASetWallClockIsNoSuspend(t *testing.T) {
	for _, set := range []time.Duration{time.Hour, -time.Hour, time.Millisecond, -time.Millisecond} {
		m := newMachine()
		m.set = set
		lower := readBoottime()
		now := m.now()
		if upper := readBoottime(); now < lower-step || now > upper {
			t.Errorf("a wall clock set by %v: %v, where CLOCK_BOOTTIME went from %v to %v", set, now, lower, upper)
		}
		if m.reads == 0 {
			t.Errorf("a wall clock set by %v: CLOCK_BOOTTIME was not asked", set)
		}
	}
}

func TestASuspendBehindASetClockShows(t *testing.T) {
	m := newMachine()
	before := m.now()
	m.slept, m.set = 10*time.Second, -9*time.Second
	if after := m.now(); after < before+10*time.Second {
		t.Errorf("the clock went from %v to %v over a suspend of 10 s", before, after)
	}
}

func TestSystemClockKeepsToBoottime(t *testing.T) {
	m := newMachine()
	for end := time.Now().Add(50 * time.Millisecond); time.Now().Before(end); {
		lower := readBoottime()
		now := m.now()
		if upper := readBoottime(); now > upper || now < lower-step {
			t.Fatalf("%v, where CLOCK_BOOTTIME went from %v to %v", now, lower, upper)
		}
	}
	if m.reads > 100 {
		t.Errorf("CLOCK_BOOTTIME was read %d times in 50 ms", m.reads)
	}
}
