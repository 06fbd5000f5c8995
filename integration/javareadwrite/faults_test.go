package javareadwrite

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/integration/javapeer"
	"github.com/rlock-go/redisson/internal/monitor"
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
	javapeer.Beside(t, versions, func(t *testing.T, version string) {
		r := newRig(t, "doc")
		short := newJavaSide(t, version, r.Server.URL(), r.name, javapeer.WatchdogTimeout(beat))
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
			{"an unlock of nothing that is sent again has released", latchOfNothing},
			{"a plain lock of the name lets Java's readers in", plainLockOfTheName},
		} {
			t.Run(f.name, func(t *testing.T) {
				r := &rig{r.For(t), r.name}
				r.Do("FLUSHALL")
				f.show(r, short)
			})
		}
	})
}

// flatRenewal: with one watchdog timeout on both sides Go's fixed lease is back before what Java left is over. Where Go's
// third follows Java's at once nothing is seen of a cut, so Java begins again at another time.
func flatRenewal(r *rig, java *javaSide) {
	golang := newGoSide(r.T, r.Server.URL(), r.name, rlock.WithWatchdogTimeout(beat))
	const lease = 60 * time.Second
	r.Must(golang.lock("a", read, lease))
	cuts, worst := 0, time.Duration(0)
	for try := time.Duration(0); cuts == 0 && try < 6; try++ {
		time.Sleep(try * beat / 15)
		began, cutAt := time.Now(), time.Time{}
		r.Must(java.lock("b", read, 0))
		for time.Since(began) < 2*beat {
			switch ttl := r.ttl(); {
			case ttl <= 0:
				r.Fatal("the lock has gone under a reader")
			case ttl <= beat && cutAt.IsZero():
				cuts, cutAt = cuts+1, time.Now()
			case ttl > beat && !cutAt.IsZero():
				worst, cutAt = max(worst, time.Since(cutAt)), time.Time{}
			}
			time.Sleep(time.Millisecond)
		}
		r.Must(java.unlock("b", read))
		// A renewal of Java's may cross its unlock, and cut the lock once more.
		r.Eventually("Go's lease is back", func() bool { return r.ttl() > beat })
	}
	r.Logf("Java's renewal cut the lock %d times; put right within %v", cuts, worst)
	if cuts == 0 {
		r.Error("nothing was cut")
	}
	r.Must(golang.last("a", read).Err())
	r.Must(golang.unlock("a", read))
}

// unequalWatchdogs: what can't be promised. The lock ends under a Go reader whose third comes after Java's whole timeout.
func unequalWatchdogs(r *rig, java *javaSide) {
	golang := newGoSide(r.T, r.Server.URL(), r.name) // 30 s
	r.Must(golang.lock("a", read, 0))
	r.Must(java.lock("b", read, 0))
	r.Eventually("Java's renewal", func() bool { return r.ttl() <= beat })
	if ttl := time.Until(golang.last("a", read).ValidUntil()); ttl < 25*time.Second {
		r.Errorf("the Go hold has %v", ttl)
	}
	// Java goes without an unlock, which would set the lock to Go's lease again.
	thread, err := java.of("b", read).Owner(r.Context())
	r.Must(err)
	r.Do("HDEL", r.name, thread.Text())
	r.Eventually("the lock ends under a Go reader", func() bool { return r.ttl() < 0 })
	if err := golang.unlock("a", read); !errors.Is(err, rlock.ErrNotHeld) {
		r.Errorf("Go's unlock: %v", err)
	}
	java.unlock("b", read)
}

// stoppedRenewal: Go's write lock lives on, Java's ends.
func stoppedRenewal(r *rig, java *javaSide) {
	golang := newGoSide(r.T, r.Server.URL(), r.name, rlock.WithWatchdogTimeout(beat))
	for name, s := range map[string]side{"Go": golang, "Java": java} {
		r.Must(s.lock("a", write, 0))
		r.Must(s.lock("a", read, 0))
		r.Must(s.unlock("a", read))
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
	golang := newGoSide(r.T, r.Server.URL(), r.name)
	const lease = 20 * time.Second
	for name, s := range map[string]side{"Go": golang, "Java": java} {
		r.Must(s.lock("a", write, lease))
		r.Must(s.lock("a", write, lease))
		if summed := r.ttl() > lease; summed != (name == "Java") {
			r.Errorf("%s: two leases of %v make %v", name, lease, r.ttl())
		}
		r.Must(s.unlock("a", write))
		r.Must(s.unlock("a", write))
	}
}

func forcedHolds(r *rig, java *javaSide) {
	golang := newGoSide(r.T, r.Server.URL(), r.name)
	for name, s := range map[string]side{"Go": golang, "Java": java} {
		r.Must(golang.lock("a", read, time.Minute))
		if !s.force(read) {
			r.Errorf("%s forced nothing", name)
		}
		keys, err := redis.Strings(r.Do("KEYS", "*rwlock_timeout*"), nil)
		r.Must(err)
		if left := len(keys) > 0; left != (name == "Java") {
			r.Errorf("%s leaves %q", name, keys)
		}
		golang.unlock("a", read)
		r.Do("FLUSHALL")
	}
}

// latchOfNothing: what each side sent to unlock what was gone is sent twice more, as after lost replies.
func latchOfNothing(r *rig, java *javaSide) {
	if before(java.peer.Version, "3.27") {
		r.Skip("no latches yet")
	}
	golang := newGoSide(r.T, r.Server.URL(), r.name)
	for name, s := range map[string]side{"Go": golang, "Java": java} {
		for _, k := range []javapeer.Kind{read, write} {
			r.Must(s.lock("a", k, time.Minute))
			r.Do("DEL", r.name)
			tap := monitor.Tap(r.T, r.Server.URL())
			if err := s.unlock("a", k); err == nil && (name == "Go" || !before(java.peer.Version, "3.52")) {
				r.Errorf("%s unlocked what was gone", name)
			}
			sent := slices.DeleteFunc(tap.Mark(), func(l monitor.Line) bool {
				return l.Lua() || !l.Is("EVAL") && !l.Is("EVALSHA") || !strings.Contains(strings.Join(l.Args, " "), codec.ReadWriteChannel(r.name))
			})
			if len(sent) == 0 {
				r.Fatalf("%s sent no unlock", name)
			}
			again := func() any {
				args := redis.Args{}.AddFlat(sent[0].Args[1:])
				return r.Do(sent[0].Args[0], args...)
			}
			again() // the latch of the first is deleted
			if reply := again(); (reply != nil) != (name == "Java") {
				r.Errorf("%s: the unlock of nothing, sent again, is answered %v", name, reply)
			}
			r.Do("FLUSHALL")
		}
	}
}

// plainLockOfTheName: a plain lock's script is fixed, and Java's read lock takes its hash for free. Go's does not.
func plainLockOfTheName(r *rig, java *javaSide) {
	golang := newGoSide(r.T, r.Server.URL(), r.name)
	plain, err := golang.client.NewLock(r.name).Lock(r.Context())
	r.Must(err)
	if _, err := golang.of(read).TryLock(r.Context()); !errors.Is(err, rlock.ErrRefused) {
		r.Errorf("Go reads beside a plain lock: %v", err)
	}
	r.Must(java.lock("a", read, time.Minute))
	r.Must(plain.Unlock(r.Context()))
	if n := r.fields(); len(n) != 0 {
		r.Errorf("the plain lock's release left %v of Java's read lock", n)
	}
}
