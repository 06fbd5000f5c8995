package javareadwrite

import (
	"errors"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/javapeer"
	"github.com/rlock-go/redisson/rlock"
)

// beat is a watchdog timeout of which some renewals are seen soon.
const beat = 1200 * time.Millisecond

func TestJavasFaults(t *testing.T) {
	t.Parallel()
	versions := []string{javapeer.Newest}
	if *full {
		versions = javapeer.Recorded
	}
	beside(t, versions, func(t *testing.T, version string) {
		r := newRig(t, "doc")
		short := newJavaSide(t, version, r.server.URL(), r.name, javapeer.WatchdogTimeout(beat))
		for _, f := range []struct {
			name string
			show func(r *rig, java *javaSide)
		}{
			{"a reader's renewal cuts the lock for all", flatRenewal},
			{"a longer lease elsewhere is cut for good", unequalWatchdogs},
			{"a read unlock stops the write's renewal", func(r *rig, java *javaSide) {
				if before(version, "3.52") {
					r.Skip("since 3.52, and now and then in 3.37")
				}
				stoppedRenewal(r, java)
			}},
			{"write leases add up", summedLease},
			{"a forced lock leaves its holds' keys", forcedHolds},
		} {
			t.Run(f.name, func(t *testing.T) {
				r := &rig{t, r.server, r.conn, r.heard, r.name, map[string]string{}}
				r.do("FLUSHALL")
				f.show(r, short)
			})
		}
	})
}

// flatRenewal: with one watchdog timeout on both sides Go's fixed lease is back before what Java left is over.
func flatRenewal(r *rig, java *javaSide) {
	golang := newGoSide(r.T, r.server.URL(), r.name, rlock.WithWatchdogTimeout(beat))
	const lease = 20 * time.Second
	r.must(golang.lock("a", read, lease))
	began := time.Now()
	r.must(java.lock("b", read, 0))
	cuts, worst := 0, time.Duration(0)
	cutAt := time.Time{}
	for time.Since(began) < 2*beat {
		switch ttl := r.ttl(); {
		case ttl <= beat && cutAt.IsZero():
			cuts, cutAt = cuts+1, time.Now()
		case ttl > lease-4*beat && !cutAt.IsZero():
			worst, cutAt = max(worst, time.Since(cutAt)), time.Time{}
		case ttl <= 0:
			r.Fatal("the lock has gone under a reader")
		}
		time.Sleep(2 * time.Millisecond)
	}
	r.Logf("Java's renewal cut the lock %d times; put right within %v", cuts, worst)
	if cuts == 0 {
		r.Error("nothing was cut")
	}
	r.must(golang.last("a", read).Err())
	r.must(java.unlock("b", read))
	if ttl := r.ttl(); ttl < lease-4*beat {
		r.Errorf("after Java's unlock the lock has %v", ttl)
	}
	r.must(golang.unlock("a", read))
}

// unequalWatchdogs: what can't be promised. The lock ends under a Go reader whose third comes after Java's whole timeout.
func unequalWatchdogs(r *rig, java *javaSide) {
	golang := newGoSide(r.T, r.server.URL(), r.name) // 30 s
	r.must(golang.lock("a", read, 0))
	r.must(java.lock("b", read, 0))
	r.eventually("Java's renewal", func() bool { return r.ttl() <= beat })
	if ttl := time.Until(golang.last("a", read).ValidUntil()); ttl < 25*time.Second {
		r.Errorf("the Go hold has %v", ttl)
	}
	// Java goes without an unlock, which would set the lock to Go's lease again.
	thread, err := java.of("b", read).Owner(r.Context())
	r.must(err)
	r.do("HDEL", r.name, thread.Text())
	r.eventually("the lock ends under a Go reader", func() bool { return r.ttl() < 0 })
	if err := golang.unlock("a", read); !errors.Is(err, rlock.ErrNotHeld) {
		r.Errorf("Go's unlock: %v", err)
	}
	java.unlock("b", read)
}

// stoppedRenewal: Go's write lock lives on, Java's ends.
func stoppedRenewal(r *rig, java *javaSide) {
	golang := newGoSide(r.T, r.server.URL(), r.name, rlock.WithWatchdogTimeout(beat))
	for name, s := range map[string]side{"Go": golang, "Java": java} {
		r.must(s.lock("a", write, 0))
		r.must(s.lock("a", read, 0))
		r.must(s.unlock("a", read))
		time.Sleep(beat + beat/3)
		if lives := r.ttl() > 0; lives != (name == "Go") {
			r.Errorf("%s: the write lock lives on: %v", name, lives)
		}
		if err := s.unlock("a", write); name == "Go" && err != nil {
			r.Errorf("%s: %v", name, err)
		}
	}
}

func summedLease(r *rig, java *javaSide) {
	golang := newGoSide(r.T, r.server.URL(), r.name)
	const lease = 20 * time.Second
	for name, s := range map[string]side{"Go": golang, "Java": java} {
		r.must(s.lock("a", write, lease))
		r.must(s.lock("a", write, lease))
		if summed := r.ttl() > lease; summed != (name == "Java") {
			r.Errorf("%s: two leases of %v make %v", name, lease, r.ttl())
		}
		r.must(s.unlock("a", write))
		r.must(s.unlock("a", write))
	}
}

func forcedHolds(r *rig, java *javaSide) {
	golang := newGoSide(r.T, r.server.URL(), r.name)
	for name, s := range map[string]side{"Go": golang, "Java": java} {
		r.must(golang.lock("a", read, time.Minute))
		if !s.force(read) {
			r.Errorf("%s forced nothing", name)
		}
		keys, err := redis.Strings(r.do("KEYS", "*rwlock_timeout*"), nil)
		r.must(err)
		if left := len(keys) > 0; left != (name == "Java") {
			r.Errorf("%s leaves %q", name, keys)
		}
		golang.unlock("a", read)
		r.do("FLUSHALL")
	}
}
