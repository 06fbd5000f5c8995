package javareadwrite

import (
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/javapeer"
	"github.com/rlock-go/redisson/internal/redistest"
	"github.com/rlock-go/redisson/internal/topologytest"
	"github.com/rlock-go/redisson/rlock"
)

// In a cluster Redisson 4.7.0 publishes to shards and 3.21.3 to all, and each hears its own only. Go hears and sends both.
func TestGoWakesBothSortsOfJavaInACluster(t *testing.T) {
	t.Parallel()
	s := topologytest.StartReplicated(t, 1, 1, 1)
	wakes(t, s.ClusterURL())
	for i := range 3 {
		if n := topologytest.Errors(t, s.Conn(i), "CROSSSLOT"); n != 0 {
			t.Errorf("server %d answered CROSSSLOT %d times", i, n)
		}
	}
}

func TestGoWakesJavaBehindSentinels(t *testing.T) {
	if !*full {
		t.Skip("with -full")
	}
	t.Parallel()
	wakes(t, redistest.StartSentinels(t, redistest.SentinelPasswords{}).URL())
}

// wakes has Go release, then each Java, and whoever waits in the others must enter at once.
func wakes(t *testing.T, url string) {
	t.Helper()
	const name = "doc"
	golang := newGoSide(t, url, name)
	javas := []*javaSide{newJavaSide(t, javapeer.Newest, url, name), newJavaSide(t, "3.21.3", url, name)}
	atMost := func(what string, got <-chan error) {
		t.Helper()
		select {
		case err := <-got:
			if err != nil {
				t.Fatal(err)
			}
		case <-time.After(2 * atOnce):
			t.Fatalf("%s is not woken", what)
		}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(golang.lock("w", write, 0))
	var readers []<-chan error
	for _, java := range javas {
		readers = append(readers, java.waits("r", read))
	}
	must(golang.unlock("w", write))
	for i, java := range javas {
		atMost("a reader of "+java.peer.Version, readers[i])
		must(java.unlock("r", read))
	}
	for _, java := range javas {
		must(golang.lock("r", read, 0))
		writer := java.waits("w", write)
		must(golang.unlock("r", read))
		atMost("a writer of "+java.peer.Version, writer)
		must(java.unlock("w", write))
	}
	for _, java := range javas {
		for _, k := range []javapeer.Kind{write, read} {
			must(java.lock("w", k, 0))
			got := make(chan error, 1)
			go func() {
				h, err := golang.of(write).Lock(t.Context())
				if err == nil {
					err = h.Unlock(t.Context())
				}
				got <- err
			}()
			listens(t, golang.client, name)
			must(java.unlock("w", k))
			atMost("a Go writer behind "+java.peer.Version, got)
		}
	}
}

// listens waits until the client has been refused and listens.
func listens(t *testing.T, c *rlock.Client, name string) {
	t.Helper()
	l := c.NewReadWriteLock(name)
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		for _, l := range []*rlock.Lock{l.ReadLock(), l.WriteLock()} {
			if i, err := l.Info(t.Context()); err == nil && i.Waiters > 0 {
				time.Sleep(50 * time.Millisecond)
				return
			}
		}
		if time.Now().After(end) {
			t.Fatal("nobody listens")
		}
	}
}
