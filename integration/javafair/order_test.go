package javafair

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/javapeer"
)

// rounds are how often six queue up.
func rounds() int {
	if *full {
		return 200
	}
	return 25
}

func TestOrderBesideJava(t *testing.T) {
	versions := []string{javapeer.Newest, "3.21.3"}
	if *full {
		versions = javapeer.FairVersions(true)
	}
	javapeer.Beside(t, versions, func(t *testing.T, version string) {
		r := newRig(t)
		waiters := six(t, r, version)
		began := time.Now()
		var slowest time.Duration
		for i := range rounds() {
			order := rand.Perm(len(waiters))
			got, took := queueUp(r, waiters, order)
			if !slices.Equal(got, order) {
				t.Fatalf("round %d: they stood in the order %v and entered in the order %v", i, order, got)
			}
			slowest = max(slowest, took)
		}
		t.Logf("Redisson %s: %d rounds in %v, none out of order; the slowest six hand-offs took %v", version, rounds(), time.Since(began), slowest)
	})
}

// Redisson 3.11.6 makes its times with 5 s, whatever the others wait: there is no order, but still one lock.
func TestExclusionBesideTheOldestJava(t *testing.T) {
	inFull(t)
	t.Parallel()
	r := newRig(t)
	waiters := six(t, r, javapeer.Oldest)
	const n = 40
	inOrder := 0
	for range n {
		order := rand.Perm(len(waiters))
		got, _ := queueUp(r, waiters, order)
		if slices.Equal(got, order) {
			inOrder++
		}
		if slices.Sort(got); !slices.Equal(got, []int{0, 1, 2, 3, 4, 5}) {
			t.Fatalf("entered have %v", got)
		}
	}
	t.Logf("Redisson %s: %d rounds, one at a time, %d of them in order", javapeer.Oldest, n, inOrder)
}

// waiter is one place in the queue.
type waiter struct {
	side
	who string
}

// six are three in Go, two of which share a client, and three threads of a JVM.
func six(t *testing.T, r *rig, version string) []waiter {
	t.Helper()
	java := newJavaSide(t, version, r.Server.URL())
	one, two := newGoSide(t, r.Server.URL()), newGoSide(t, r.Server.URL())
	return []waiter{{one, "g0"}, {one, "g1"}, {two, "g2"}, {java, "j0"}, {java, "j1"}, {java, "j2"}}
}

// queueUp has all stand in line while one more holds, each place confirmed before the next comes, and tells in which order
// they entered. Nobody is inside with another.
func queueUp(r *rig, waiters []waiter, order []int) (got []int, took time.Duration) {
	r.Helper()
	holder := waiters[order[len(order)/2]]
	if err := holder.acquire("holder", 0, 0); err != nil {
		r.Fatal(err)
	}
	entered, released := make(chan int, len(order)), make(chan error, len(order))
	for n, i := range order {
		w := waiters[i]
		go func() {
			err := w.acquire(w.who, 0, 0)
			if err != nil {
				released <- fmt.Errorf("%s: %w", w.who, err)
				return
			}
			entered <- i
			if inside := r.inside(); inside != 1 {
				err = fmt.Errorf("%d are inside", inside)
			}
			if e := w.unlock(w.who); err == nil {
				err = e
			}
			released <- err
		}()
		r.stands(n + 1)
	}
	began := time.Now()
	if err := holder.unlock("holder"); err != nil {
		r.Fatal(err)
	}
	for range order {
		select {
		case err := <-released:
			if err != nil {
				r.Fatal(err)
			}
		case <-time.After(4 * patience):
			r.Fatalf("stuck; the queue is %s", strings.Join(r.queue(), ", "))
		}
	}
	took = time.Since(began)
	for range order {
		got = append(got, <-entered)
	}
	r.free()
	return got, took
}

// inside is how many hold the lock.
func (r *rig) inside() int64 {
	conn := r.Server.Dial(r.T)
	defer conn.Close()
	n, _ := conn.Do("HLEN", name)
	count, _ := n.(int64)
	return count
}
