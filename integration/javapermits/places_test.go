package javapermits

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/integration/internal/onserver"
	"github.com/rlock-go/redisson/integration/javapeer"
	"github.com/rlock-go/redisson/internal/redistest"
	"github.com/rlock-go/redisson/internal/topologytest"
	"github.com/rlock-go/redisson/rlock"
)

// In a cluster Redisson 4.7.0 publishes to shards and 3.21.3 to all, and each hears its own only: a waiter that is not told
// stays. Go hears and sends both.
func TestGoWakesBothSortsOfJavaInACluster(t *testing.T) {
	t.Parallel()
	c := topologytest.StartReplicated(t, 1, 1, 1)
	allWake(t, c.ClusterURL(), c.Conn(0), c.Conn(1), c.Conn(2))
	for i := range 3 {
		if n := topologytest.Errors(t, c.Conn(i), "CROSSSLOT"); n != 0 {
			t.Errorf("server %d answered CROSSSLOT %d times", i, n)
		}
	}
}

func TestGoWakesJavaBehindSentinels(t *testing.T) {
	if !*full {
		t.Skip("with -full")
	}
	t.Parallel()
	s := redistest.StartSentinels(t, redistest.SentinelPasswords{})
	allWake(t, s.URL(), s.Master().Dial(t))
}

// allWake has Go release, then each Java, and whoever waits in the other must enter at once.
func allWake(t *testing.T, url string, conns ...redis.Conn) {
	t.Helper()
	golang := newGoSide(t, url)
	if err := golang.set(t.Context(), "trysetpermits", 1); err != nil {
		t.Fatal(err)
	}
	p := &pair{rig: bounded(onserver.By(t, nil)), golang: golang}
	enters := func(what string, from, to side, release func(ids []string)) {
		t.Helper()
		ids, err := from.take(t.Context(), 1, 10*time.Minute) // so that its end wakes nobody
		p.Must(err)
		got := p.waits(to, 1, 10*time.Minute)
		if s, java := to.(*javaSide); java {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			p.Must(s.peer.Thread("waits").AwaitParked(ctx))
		} else {
			p.Eventually("a Go waiter that listens", func() bool {
				for _, conn := range conns {
					counts, err := redis.IntMap(conn.Do("PUBSUB", "NUMSUB", codec.PermitChannel(name)))
					p.Must(err)
					if counts[codec.PermitChannel(name)] > 0 {
						return true
					}
				}
				return false
			})
		}
		release(ids)
		p.Must(to.release(t.Context(), within(p, what, 2*atOnce, got)...))
	}
	for _, version := range []string{javapeer.Newest, "3.21.3"} {
		java := newJavaSide(t, version, url)
		enters("a waiter of "+version, golang, java, func(ids []string) { p.Must(golang.release(t.Context(), ids...)) })
		enters("Go behind "+version, java, golang, func(ids []string) { p.Must(java.release(t.Context(), ids...)) })
	}
	if n, err := golang.counts(t.Context()); n != [3]int{1, 0, 1} || err != nil {
		t.Errorf("there are %v, %v", n, err)
	}
	if strings.Contains(url, "cluster") {
		if _, err := golang.client.NewPermitSemaphore("a{b").TryAcquire(t.Context(), 1); !errors.Is(err, rlock.ErrInvalidName) {
			t.Errorf("a name in two slots: %v", err)
		}
	}
}

// In a cluster Redisson 4.7.0 publishes to shards and 3.21.3 to all, and each hears its own only. Go hears and sends both.
func TestGoWakesBothSortsOfJavaByNumbersInACluster(t *testing.T) {
	t.Parallel()
	c := topologytest.StartReplicated(t, 1, 1, 1)
	allWakeByNumbers(t, c.ClusterURL())
	for i := range 3 {
		if n := topologytest.Errors(t, c.Conn(i), "CROSSSLOT"); n != 0 {
			t.Errorf("server %d answered CROSSSLOT %d times", i, n)
		}
	}
	client := newGoSide(t, c.ClusterURL()).client
	for _, err := range []error{
		client.NewSemaphore("a{b").TryAcquire(t.Context(), 1), client.NewCountDownLatch("x{t}y").CountDown(t.Context()),
		client.NewCountDownLatch("a}b").Await(t.Context()),
	} {
		if !errors.Is(err, rlock.ErrInvalidName) {
			t.Errorf("a name in two slots: %v", err)
		}
	}
}

func TestGoWakesJavaByNumbersBehindSentinels(t *testing.T) {
	if !*full {
		t.Skip("with -full")
	}
	t.Parallel()
	allWakeByNumbers(t, redistest.StartSentinels(t, redistest.SentinelPasswords{}).URL())
}

// allWakeByNumbers has Go act, then each Java, and whoever waits in the other must come back: Java has nothing but a message to
// be woken by.
func allWakeByNumbers(t *testing.T, url string) {
	t.Helper()
	const sem, gate = "seats", "ready"
	for _, version := range []string{javapeer.Newest, "3.21.3"} {
		s, l := semaphores(bounded(onserver.By(t, nil)), url, version, sem), latches(bounded(onserver.By(t, nil)), url, version, gate)
		for who := range s.sides() {
			act, wait := s.sides()[who][0], s.sides()[who][1]
			got := s.waits(t.Context(), wait, "acquire", 1)
			if who == "Go" {
				s.parked("waits")
			}
			s.says("", act, "release", 1)
			s.soon("who waits for permits while "+who+" releases, "+version, got)
			act, wait = l.sides()[who][0], l.sides()[who][1]
			l.says("true", act, "trysetcount", 1)
			got = l.waits(t.Context(), wait, "await")
			if who == "Go" {
				l.parked("waits")
			}
			l.says("", act, "countdown")
			l.soon("who awaits while "+who+" counts down, "+version, got)
		}
		s.says("0", s.golang, "available")
		l.says("0", l.golang, "count")
	}
}
