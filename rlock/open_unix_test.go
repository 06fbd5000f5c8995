package rlock

import (
	"context"
	"crypto/tls"
	"errors"
	"path/filepath"
	"testing"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// Connections over a Unix socket have no address of their own, so the client refers to them by id.
func TestLocksOverASocketOfTheMachine(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "redis.sock")
	s := redistest.Start(t, "--unixsocket", path)
	conn := s.Dial(t)
	openURL := func(url string) *Client {
		c, err := Open(t.Context(), url)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	a, b := openURL("unix://"+path+"?db=2"), openURL("valkey://"+s.Addr()+"/2")
	h := lockOf(t, a.NewLock("orders"))
	waits := make(chan error, 1)
	go func() {
		waits <- b.NewLock("orders").Do(context.Background(), func(context.Context) error { return nil })
	}()
	awaitWaiting(t, b.NewLock("orders"), 1)
	if _, err := conn.Do("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(h.Unlock(t.Context()), <-waits); err != nil {
		t.Fatal(err)
	}
	if err := a.NewLock("orders").Do(t.Context(), func(context.Context) error {
		_, err := b.NewLock("orders").TryLock(t.Context())
		return err
	}); !errors.Is(err, ErrLocked) {
		t.Error(err)
	}
	if _, err := Open(t.Context(), "unix://"+path, WithTLSConfig(new(tls.Config))); !errors.Is(err, ErrInvalidOption) {
		t.Errorf("TLS over a socket: %v", err)
	}
}
