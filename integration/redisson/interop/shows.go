package interop

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/integration/kit/machineclock"
	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/integration/redisson/alike"
	"github.com/rlock-go/redisson/rlock"
)

const (
	wakeUps = 20
	// A waiter that missed the message would enter when the lease ends, after more than 15 s.
	wakeUpMost = 12 * time.Second
	// killedLease is the watchdog timeout of processes that are killed.
	killedLease = 3 * time.Second
)

// Spread is a number of delays, in the order of the rounds.
type Spread []time.Duration

// Percentile is by nearest rank; 0 if there is none.
func (d Spread) Percentile(p int) time.Duration {
	if len(d) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(d))
	return sorted[max((len(sorted)*p+99)/100, 1)-1]
}

// woken logs delays, of which each was ended by a message: a wait without one outlasts the scene's patience.
func (s *scene) woken(what string, d Spread) {
	s.Helper()
	s.Logf("Redisson %s, %s: p50 %v, p99 %v, max %v (%d rounds)", s.version, what, d.Percentile(50), d.Percentile(99), slices.Max(d), len(d))
	if slices.Min(d) <= 0 {
		s.Errorf("want no effect before its cause: %v", d)
	}
}

// sleepers are the releases in which the head of a fair lock's queue sleeps until a message, once it was refused at the end
// of the lease that it knows: the holder had renewed, or the waiter's first command came late to the server.
var sleepers = []string{"3.27.2", "3.21.3", "3.16.8", javapeer.Oldest}

// skipSleepers skips a behaviour in which such a waiter waits for the end of a lease.
func (s *scene) skipSleepers() {
	if s.Kind == javapeer.Fair && slices.Contains(sleepers, s.version) {
		s.Skip("it sleeps beside the free lock: javakinds.TestHeadOfOldJavaIsWokenByGoAfterTheHolderDied")
	}
}

// javaForceUnlockEndsGoHold has waiters in the holder's own client and in another. Without the message they would enter
// only when the watchdog's time is over, and without a renewal the holder would learn of the loss only then.
func javaForceUnlockEndsGoHold(s *scene) {
	const watchdog = 9 * time.Second
	s.With("H", alike.NewGo(s.T, s.server.URL(), rlock.WithWatchdogTimeout(watchdog)))
	s.Run("H a lock; H w& lock; G w& lock; ttl 4s..9s")
	s.Run("J t1 forceunlock = true; next unlock; next unlock; free; H a lost; H a unlock = not held")
}

// javaEntersWhenGoAtLeastEnds shows that a Java waiter that knows a lease of 30 s enters when AtLeast ends, not then.
func javaEntersWhenGoAtLeastEnds(s *scene) {
	const least = 2 * time.Second
	s.Most = wakeUpMost
	var late Spread
	for range 3 {
		began := machineclock.Now()
		hold, err := s.Kind.GoLock(s.client, s.Object).Lock(s.Context(), rlock.AtLeast(least))
		s.Must(err)
		s.Run("J t1& lock; ttl 15s..30s")
		s.Must(hold.Unlock(s.Context()))
		s.Run("ttl 1ms..2s; J t1 ends")
		late = append(late, time.Duration(machineclock.Now()-began)-least)
		s.Run("J t1 unlock")
	}
	s.woken("Go's AtLeast ended → Java waiter in", late)
}

// manyWaitersOnBothSides releases a lock with many waiters, which must enter one after the other. A Java waiter that misses
// a message enters when a lease of 30 s is over.
func manyWaitersOnBothSides(s *scene) {
	const ofEach = 8 // Java threads, and goroutines of each of two clients
	s.Run("G first lock")
	for i := range ofEach {
		s.Run(strings.ReplaceAll("J cI& lock; G cI& lock; D cI& lock", "I", fmt.Sprint(i)))
	}
	s.Most = 90 * time.Second
	s.Run("listeners 3; none; G first unlock")
	for range 3 * ofEach {
		s.Run("next unlock")
	}
	s.Run("free")
}

// On one server Java locks and unlocks all of these, though some could not be unlocked in a cluster.
var oddNames = []string{
	"with a space", " at both ends ", "Größe 鍵 🔒", "cr\r\nlf", "\ttab\x00nul", "%s \"quoted\" \\ *?[a]",
	"{tag}:rest", "rest:{tag}", "{a}{b}", "a{b", "a}b", "}b", "{}a", "{", "}", strings.Repeat("long", 300),
}

func names(s *scene) {
	for _, name := range oddNames {
		if s.clustered() && !codec.SlotSafe(name) {
			continue // neither side could unlock it
		}
		s.part(fmt.Sprintf("%.20q", name), func(s *scene) {
			s.Object = name
			s.Run(meet)
		})
	}
}

// meet shows that both sides lock the key named like the scene: each holder keeps the other out and wakes it.
const meet = `
	G a lock; has G a 1; J t1& lock; none; G a unlock; J t1 ends; has J t1 1
	G b& lock; ttl 15s..30s; J t1 unlock; G b ends; has G b 1; G b unlock; free`

// prefixed is a NameMapper.
type prefixed string

func (p prefixed) Map(name string) string { return string(p) + name }

func nameMapper(s *scene) {
	for _, prefix := range []string{"app 1:", "{app}:"} {
		s.part(prefix, func(s *scene) {
			s.Object = prefix + "orders"
			golang := alike.NewGo(s.T, s.server.URL(), rlock.WithNameMapper(prefixed(prefix)))
			golang.Named = "orders"
			s.With("G", golang)
			s.Run(meet)                       // a Java without the mapper names the key
			if s.version != javapeer.Oldest { // which has no mapper
				mapped := s.startJava(javapeer.NamePrefix(prefix))
				mapped.Named = "orders"
				s.With("J", mapped)
				s.Run(meet)
			}
			if name := golang.Client.NewLock("orders").Name(); name != "orders" {
				s.Errorf("the lock's name became %q", name)
			}
		})
	}
}

func (s *scene) part(name string, show func(*scene)) {
	s.T.Run(name, func(t *testing.T) { show(s.World.scene(t)) })
}

const (
	workersOfEach  = 4
	warming        = time.Second
	briefly        = 5 * time.Second
	veryBriefly    = 2 * time.Second
	thinking       = 2 * time.Millisecond
	timeToGetReady = time.Second
	// A Java waiter that misses a message enters when a lease of 30 s is over.
	timeToEnd = 60 * time.Second
)

// counterIsExactAcrossProcesses has a JVM and two Go clients count in one key, all at once. A lost update would mean that
// two were inside at once.
func counterIsExactAcrossProcesses(s *scene) {
	ctx, cancel := context.WithTimeout(s.Context(), s.Counting+timeToEnd)
	defer cancel()
	counter := s.Object + ":counter"
	_, err := s.java.Hammer(ctx, javapeer.Hammer{Name: s.Object + ":warm", Workers: workersOfEach, For: warming})
	s.Must(err)
	start := machineclock.Now() + timeToGetReady.Nanoseconds()
	var think time.Duration
	if s.Kind == javapeer.Spin {
		// A thread that acquires right after its release would get the lock again and again, while all others pause.
		think = thinking
	}
	var all sync.WaitGroup
	var java javapeer.WorkResult
	all.Go(func() {
		var err error
		if java, err = s.java.Work(ctx, javapeer.Hammer{
			Name: s.Object, Kind: s.Kind, Workers: workersOfEach, Hold: time.Millisecond, Think: think, For: s.Counting, StartAt: start,
		}, counter); err != nil {
			s.Error(err)
		}
	})
	var inGo, lastInGo atomic.Int64
	for _, side := range []string{"G", "D"} {
		for range workersOfEach {
			all.Go(func() {
				err := s.count(ctx, s.Sides[side].(*alike.Go), counter, start, &inGo, &lastInGo)
				if err != nil {
					s.Error(err)
				}
			})
		}
	}
	all.Wait()
	s.Logf("Redisson %s: Java counted %d, late %d", s.version, java.Total, java.Late)
	if java.Started-start < 0 || java.Started > lastInGo.Load() {
		s.Errorf("Java began %v after the instant for all, behind all of Go's", time.Duration(java.Started-start))
	}
	total, counted := inGo.Load()+java.Total, int64(s.Number("GET", counter))
	s.Logf("Redisson %s: %d in %v, of which Go counted %d", s.version, counted, s.Counting, inGo.Load())
	if counted != total {
		s.Errorf("the counter says %d, those who counted %d: %d updates were lost", counted, total, total-counted)
	}
	if inGo.Load() == 0 || java.Total == 0 {
		s.Error("one side never entered")
	}
	s.Do("DEL", counter)
	s.Run("free")
}

// count counts from an instant on with a plain GET and SET, which only the lock makes safe. It releases a grant that comes
// after the end without counting.
func (s *scene) count(ctx context.Context, of *alike.Go, counter string, start int64, counted, last *atomic.Int64) error {
	conn, err := redisserver.Connect(s.server.URL())
	if err != nil {
		return err
	}
	defer conn.Close()
	lock := s.Kind.GoLock(of.Client, s.Object)
	time.Sleep(time.Duration(start - machineclock.Now()))
	for end := start + s.Counting.Nanoseconds(); machineclock.Now() < end; {
		err := lock.Do(ctx, func(context.Context) error {
			if machineclock.Now() >= end {
				return nil
			}
			before, err := redis.Int64(conn.Do("GET", counter))
			if err != nil && err != redis.ErrNil {
				return err
			}
			time.Sleep(time.Millisecond)
			counted.Add(1)
			last.Store(machineclock.Now())
			_, err = conn.Do("SET", counter, before+1)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
