package rlocktest

import (
	"net"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// mini is miniredis with a clock.
type mini struct{ *miniredis.Miniredis }

func startMini(t testing.TB) mini {
	t.Helper()
	m, err := miniredis.Run()
	if err != nil {
		t.Fatalf("rlocktest: %v", err)
	}
	t.Cleanup(m.Close)
	runClock(t, m)
	return mini{m}
}

func (m mini) addr() string   { return m.Addr() }
func (m mini) dialer() dialer { return new(net.Dialer).DialContext }
func (m mini) stop()          { m.Close() }
func (m mini) start() error   { return m.Restart() }

// runClock lets time pass for the server's keys, which miniredis does not do by
// itself.
func runClock(t testing.TB, m *miniredis.Miniredis) {
	quit := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for last := time.Now(); ; {
			select {
			case <-quit:
				return
			case now := <-tick.C:
				m.FastForward(now.Sub(last))
				last = now
			}
		}
	})
	t.Cleanup(func() {
		close(quit)
		running.Wait()
	})
}
