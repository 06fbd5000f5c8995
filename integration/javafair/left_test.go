package javafair

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/javapeer"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/monitor"
	"github.com/rlock-go/redisson/rlock"
)

// started runs an acquire, and tells how it ended.
func started(s side, who string, wait, lease time.Duration) <-chan error {
	end := make(chan error, 1)
	go func() { end <- s.acquire(who, wait, lease) }()
	return end
}

// enters waits for an acquire, and tells how long that took.
func (r *rig) enters(end <-chan error, most time.Duration) time.Duration {
	r.Helper()
	began := time.Now()
	select {
	case err := <-end:
		if err != nil {
			r.Fatal(err)
		}
	case <-time.After(most):
		r.Fatalf("nobody entered within %v; the queue is %q, held by %q", most, r.queue(), r.Strings("HGETALL", name))
	}
	return time.Since(began)
}

// still demands that an acquire does not end for a while.
func (r *rig) still(end <-chan error, d time.Duration) {
	r.Helper()
	select {
	case err := <-end:
		r.Fatalf("it ended: %v", err)
	case <-time.After(d):
	}
}

// A waiter of Java that is killed or interrupted keeps its place until its time is over, which is Java's fault or nobody's.
// Go waits for that without asking all the time, and a waiter of its own that ends leaves nothing.
func TestPlaceThatJavaLeavesIsPassedWhenItsTimeIsOver(t *testing.T) {
	for what, end := range map[string]func(*testing.T, *javaSide){
		"killed": func(_ *testing.T, s *javaSide) { s.peer.Kill() },
		"interrupted": func(t *testing.T, s *javaSide) {
			if r, err := s.thread("t1").Interrupt(t.Context()); err != nil || !r.Bool() {
				t.Fatal(err)
			}
		},
	} {
		t.Run(what, func(t *testing.T) {
			if what == "killed" {
				inFull(t)
			}
			t.Parallel()
			r := newRig(t)
			golang, java := newGoSide(t, r.Server.URL()), newJavaSide(t, javapeer.Newest, r.Server.URL())
			const lease, wait = time.Second, 4 * time.Second
			if err := golang.acquire("holder", 0, lease); err != nil {
				t.Fatal(err)
			}
			gone := started(java, "t1", wait, 0)
			r.stands(1)
			queued := time.Now()
			behind := started(golang, "behind", 0, 0)
			r.stands(2)
			end(t, java)
			if err := <-gone; err == nil {
				t.Fatal("it entered")
			}
			if err := golang.unlock("holder"); err != nil {
				t.Fatal(err)
			}
			tap := monitor.Tap(t, r.Server.URL())
			r.enters(behind, lease+wait+8*time.Second)
			took, asked := time.Since(queued), 0
			for _, line := range tap.Mark() {
				if line.Is("EVALSHA") && line.Args[1] == luasrc.FairLockScript.SHA1 {
					asked++
				}
			}
			t.Logf("it entered after %v, and asked %d times", took, asked)
			if took < wait {
				t.Errorf("it entered after %v, before the time was over", took)
			}
			if asked > 5 {
				t.Errorf("it asked %d times", asked)
			}
			if err := golang.unlock("behind"); err != nil {
				t.Fatal(err)
			}
			r.free()
		})
	}
}

func TestGoWaiterThatIsCancelledIsFollowedByJavaAtOnce(t *testing.T) {
	t.Parallel()
	versions := []string{"3.21.3"}
	if *full {
		versions = append(versions, javapeer.Newest)
	}
	for _, version := range versions {
		r := newRig(t)
		golang, java := newGoSide(t, r.Server.URL()), newJavaSide(t, version, r.Server.URL())
		for range 5 {
			if err := golang.acquire("holder", 0, 0); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancelled := make(chan error, 1)
			go func() { cancelled <- golang.acquireWith(ctx, "cancelled", 0, 0) }()
			r.stands(1)
			behind := started(java, "t1", 0, 0)
			r.stands(2)
			go cancel() // while it is woken
			if err := golang.unlock("holder"); err != nil {
				t.Fatal(err)
			}
			err := <-cancelled
			if err == nil {
				err = golang.unlock("cancelled")
			}
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			if took := r.enters(behind, patience); took > 2*time.Second {
				t.Errorf("Redisson %s: it entered after %v", version, took)
			}
			if err := java.unlock("t1"); err != nil {
				t.Fatal(err)
			}
			r.free()
		}
	}
}

// Redisson 3.21.3 at the head of the queue, whose holder has renewed and died, waits for a message that nobody sends,
// beside a free lock. A Go waiter at the head does not, and one behind Java wakes it.
func TestHeadOfOldJavaIsWokenByGoAfterTheHolderDied(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	java := newJavaSide(t, "3.21.3", r.Server.URL())
	const watchdog = 1500 * time.Millisecond
	dies := func() (died *goSide) {
		t.Helper()
		died = newGoSide(t, r.Server.URL(), rlock.WithWatchdogTimeout(watchdog))
		if err := died.acquire("holder", 0, 0); err != nil {
			t.Fatal(err)
		}
		return died
	}
	holder := dies()
	head := started(java, "t1", 0, 0)
	r.stands(1)
	r.still(head, 2*watchdog) // it asks at the end of the lease that it was told of, and is told a time that is over
	holder.client.Close()     // what it holds is left to expire
	r.still(head, watchdog+2*time.Second)
	if r.inside() != 0 {
		t.Fatal("the lock is not free")
	}
	golang := newGoSide(t, r.Server.URL())
	behind := started(golang, "behind", 0, 0)
	took := r.enters(head, patience)
	t.Logf("Redisson 3.21.3 slept beside a free lock until Go came, and entered %v later", took)
	if took > 2*time.Second {
		t.Errorf("it entered %v after Go came", took)
	}
	if err := java.unlock("t1"); err != nil {
		t.Fatal(err)
	}
	r.enters(behind, patience)
	if err := golang.unlock("behind"); err != nil {
		t.Fatal(err)
	}
	r.free()

	if !*full {
		return
	}
	// The same with Go at the head.
	holder = dies()
	head = started(golang, "head", 0, 0)
	r.stands(1)
	r.still(head, 2*watchdog)
	holder.client.Close()
	if took := r.enters(head, patience); took > 2*watchdog {
		t.Errorf("it entered after %v", took)
	}
	if err := golang.unlock("head"); err != nil {
		t.Fatal(err)
	}
	r.free()
}

// Java's holder renews beyond the time for which places are kept. Go's waiter and Java's queue anew, and neither is lost.
func TestPlacesThatRunOutBesideAHolderThatRenews(t *testing.T) {
	inFull(t)
	t.Parallel()
	r := newRig(t)
	java := newJavaSide(t, javapeer.Newest, r.Server.URL(), javapeer.Setting("fairLockWaitTimeout", "1000"), javapeer.WatchdogTimeout(1500*time.Millisecond))
	golang := newGoSide(t, r.Server.URL(), rlock.WithFairWait(time.Second))
	if err := java.acquire("holder", 0, 0); err != nil {
		t.Fatal(err)
	}
	ends := []<-chan error{started(java, "t1", 0, 0)}
	r.stands(1)
	ends = append(ends, started(golang, "g1", 0, 0))
	r.stands(2)
	for _, end := range ends {
		r.still(end, 5*time.Second)
	}
	if err := java.unlock("holder"); err != nil {
		t.Fatal(err)
	}
	for left := len(ends); left > 0; left-- {
		select {
		case err := <-ends[0]:
			if err == nil {
				err = java.unlock("t1")
			}
			if err != nil {
				t.Fatal(err)
			}
		case err := <-ends[1]:
			if err == nil {
				err = golang.unlock("g1")
			}
			if err != nil {
				t.Fatal(err)
			}
		case <-time.After(patience):
			t.Fatalf("stuck; the queue is %q", r.queue())
		}
	}
	r.free()
}
