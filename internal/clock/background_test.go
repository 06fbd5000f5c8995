package clock

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestWaitEndsWithTheLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGauge()
		g.Add()
		g.Add()
		ended := make(chan bool, 2)
		for range cap(ended) {
			go func() { ended <- g.Wait(nil, nil) }()
		}
		g.Done()
		if synctest.Wait(); len(ended) > 0 || g.Count() != 1 {
			t.Fatalf("%d waits ended with %d under way", len(ended), g.Count())
		}
		g.Done()
		synctest.Wait()
		if len(ended) != 2 || !<-ended || !<-ended {
			t.Fatal("not all that waited were told of the end")
		}
	})
}

func TestWaitEndsEarly(t *testing.T) {
	g := NewGauge()
	g.Add()
	closed := make(chan struct{})
	close(closed)
	if g.Wait(closed, nil) {
		t.Error("stopped, and it says that all has ended")
	}
	if !g.Wait(nil, closed) {
		t.Error("over, and it says that something is under way")
	}
}

func TestTimersRunLaterOrAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var timers Timers
		timers.Init()
		ran := make(chan string, 4)
		began := time.Now()
		timers.After(time.Second, func() { ran <- "later" })
		cancelled := timers.After(time.Second, func() { ran <- "cancelled" })
		timers.After(time.Hour, func() { ran <- "at the end" })
		timers.Cancel(cancelled)
		timers.Cancel(nil)
		who := <-ran
		synctest.Wait() // until what said so has returned
		if who != "later" || time.Since(began) != time.Second || timers.Live() != 1 {
			t.Fatalf("%q after %v, %d live", who, time.Since(began), timers.Live())
		}
		timers.RunAll()
		timers.Wait()
		if timers.After(time.Hour, func() { ran <- "after the end" }); time.Since(began) > time.Second {
			t.Fatalf("the end took %v", time.Since(began)-time.Second)
		}
		timers.Wait()
		if a, b := <-ran, <-ran; a != "at the end" || b != "after the end" || timers.Live() != 0 || len(ran) > 0 {
			t.Fatalf("%q, then %q", a, b)
		}
	})
}
