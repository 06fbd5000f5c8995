package javakinds

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/integration/redisson/alike"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/testkit/monitor"
	"github.com/rlock-go/redisson/rlock"
)

// waiter is one place in the queue.
type waiter struct {
	alike.Side
	who string
}

// TestOrderBesideJava queues three waiters in Go, two of which share a client, and three threads of a JVM. Redisson 3.11.6
// computes places with 5 s, whatever the others wait: it keeps no order, but still excludes.
func TestOrderBesideJava(t *testing.T) {
	t.Parallel()
	all, rounds := []string{javapeer.Newest, "3.21.3"}, 25
	if *full {
		all, rounds = javapeer.Recorded, 200
	}
	javapeer.Beside(t, all, func(t *testing.T, version string) {
		p := opened(t, version).For(t, "tickets")
		p.Kind = javapeer.Fair
		one, two, java := p.Sides["G"], alike.NewGo(t, p.Server.URL()), p.Sides["J"]
		waiters := []waiter{{one, "a"}, {one, "b"}, {two, "c"}, {java, "d"}, {java, "e"}, {java, "f"}}
		inOrder, slowest := 0, time.Duration(0)
		for i := range rounds {
			order := rand.Perm(len(waiters))
			got, took := queueUp(p, waiters, order)
			slowest = max(slowest, took)
			switch {
			case slices.Equal(got, order):
				inOrder++
			case version != javapeer.Oldest:
				t.Fatalf("round %d: they stood in the order %v and entered in the order %v", i, order, got)
			}
		}
		t.Logf("Redisson %s: %d of %d rounds in order; the slowest six hand-offs took %v", version, inOrder, rounds, slowest)
	})
}

// queueUp has waiters queue while another holds the lock, each once the place before it is confirmed, and returns the order
// in which they entered. It fails the test if two were inside at once.
func queueUp(p *alike.Play, waiters []waiter, order []int) (got []int, took time.Duration) {
	p.Helper()
	call := func(w waiter, who, method string) error {
		answer, err := w.Do(p.T.Context(), who, javapeer.Fair, p.Object, method)
		if err == nil && answer != "" {
			err = fmt.Errorf("%s: %s", who, answer)
		}
		return err
	}
	holder := waiters[order[len(order)/2]]
	p.Must(call(holder, "holder", "lock"))
	entered, released := make(chan int, len(order)), make(chan error, len(order))
	for n, i := range order {
		go func() {
			w := waiters[i]
			err := call(w, w.who, "lock")
			if err == nil {
				entered <- i
				conn := testbed.Dial(p.T, p.Server)
				defer conn.Close()
				if inside, e := conn.Do("HLEN", p.Object); inside != int64(1) || e != nil {
					err = fmt.Errorf("%v are inside, %v", inside, e)
				}
				if e := call(w, w.who, "unlock"); err == nil {
					err = e
				}
			}
			released <- err
		}()
		p.Stands(n + 1)
	}
	began := time.Now()
	p.Must(call(holder, "holder", "unlock"))
	for range order {
		p.Must(testbed.Receive(p.T, "a release", released))
	}
	took = time.Since(began)
	for range order {
		got = append(got, <-entered)
	}
	p.Run("keys 0")
	return got, took
}

// queue returns a play of a fair lock with a release, in which a wait may take 20 s.
func queue(t *testing.T, version string) *alike.Play {
	t.Helper()
	t.Parallel()
	p := opened(t, version).For(t, "tickets")
	p.Kind, p.Most = javapeer.Fair, 20*time.Second
	return p
}

// TestPlaceThatJavaLeavesIsPassedWhenItsTimeIsOver shows that the place of a Java waiter that was killed or interrupted is
// passed when its time is over. Go waits for that without polling, and leaves no key.
func TestPlaceThatJavaLeavesIsPassedWhenItsTimeIsOver(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"dies", "t1 interrupt"} {
		t.Run(end, func(t *testing.T) {
			if end == "dies" {
				inFull(t)
			}
			p := queue(t, javapeer.Newest)
			const wait = 4 * time.Second
			p.Run("G holder lock 1s; J t1& trylockfor 4s")
			queued := time.Now()
			p.Run("G behind& lock; J " + end + "; G holder unlock")
			tap := monitor.Tap(t, p.Server.URL())
			p.Run("G behind ends")
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
			p.Run("G behind unlock; keys 0")
		})
	}
}

func TestGoWaiterThatIsCancelledIsFollowedByJavaAtOnce(t *testing.T) {
	all := []string{"3.21.3"}
	if *full {
		all = append(all, javapeer.Newest)
	}
	javapeer.Beside(t, all, func(t *testing.T, version string) {
		p := opened(t, version).For(t, "tickets")
		p.Kind, p.Most = javapeer.Fair, 2*time.Second
		for range 5 {
			p.Run(`
				G holder lock; G gone& lock; J t1& lock
				G gone cancelling; G holder unlock; G gone left unlock; J t1 ends; J t1 unlock; keys 0`)
		}
	})
}

// TestHeadOfOldJavaIsWokenByGoAfterTheHolderDied: Redisson 3.21.3 heads the queue, whose holder renewed and died. It waits
// for a message that never comes, though the lock is free. A Go waiter behind it wakes it; at the head Go needs none.
func TestHeadOfOldJavaIsWokenByGoAfterTheHolderDied(t *testing.T) {
	p := queue(t, "3.21.3")
	const watchdog = 1500 * time.Millisecond
	p.With("D", alike.NewGo(t, p.Server.URL(), rlock.WithWatchdogTimeout(watchdog)))
	p.Run("D holder lock; J t1& lock")
	p.Still(2 * watchdog) // it tries again when the lease that it knows ends, and gets a time that is over
	p.Run("D dies")       // its hold is left to expire
	p.Still(watchdog + 2*time.Second)
	if !p.Free(p.Object) {
		t.Fatal("the lock is not free")
	}
	p.Most = 2 * time.Second
	p.Run("G behind&& lock; J t1 ends; J t1 unlock; G behind ends; G behind unlock; keys 0")
	if !*full {
		return
	}
	// The same with Go at the head.
	p.With("D", alike.NewGo(t, p.Server.URL(), rlock.WithWatchdogTimeout(watchdog)))
	p.Most = 2 * watchdog
	p.Run("D holder lock; G head& lock")
	p.Still(2 * watchdog)
	p.Run("D dies; G head ends; G head unlock; keys 0")
}

// TestPlacesThatRunOutBesideAHolderThatRenews: Go's waiter and Java's queue again when their places end; neither is lost.
func TestPlacesThatRunOutBesideAHolderThatRenews(t *testing.T) {
	inFull(t)
	p := queue(t, javapeer.Newest)
	p.With("G", alike.NewGo(t, p.Server.URL(), rlock.WithFairWait(time.Second)))
	p.With("J", alike.NewJava(t, javapeer.Newest, p.Server.URL(), javapeer.Setting("fairLockWaitTimeout", "1000"), javapeer.WatchdogTimeout(1500*time.Millisecond)))
	p.Run("J holder lock; J t1& lock; G g1& lock")
	p.Still(5 * time.Second)
	p.Run("J holder unlock; next unlock; next unlock; keys 0")
}
