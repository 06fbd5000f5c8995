package rlock_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

// A caller whose context ends first learns why there was no connection, from Open and from each read.
func TestContextThatEndsFirstHidesNoTrouble(t *testing.T) {
	t.Parallel()
	broken := errors.New("the cable is cut")
	dial := rlock.WithDialer(func(context.Context, string, string) (net.Conn, error) { return nil, broken })
	for _, url := range []string{
		"redis://far", "rediss://far", "redis+sentinel://far/orders", "redis+cluster://far", "redis+replicated://far,farther",
	} {
		t.Run(url, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				_, err := rlock.Open(ctx, url, dial)
				if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, broken) {
					t.Errorf("Open: %v", err)
				}
				c, err := rlock.Open(t.Context(), url, dial, rlock.WithLazyConnect())
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				ctx, cancel = context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if _, err := c.NewLock("orders").IsLocked(ctx); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, broken) {
					t.Errorf("IsLocked: %v", err)
				}
			})
		})
	}
}

// A port with TLS that is asked without takes the bytes for an unfinished handshake and stays silent. Each scheme's error says
// what to set, though the wait for a server ends when the last dial does.
func TestSilentPortIsHintedAtByEachScheme(t *testing.T) {
	for url, hint := range map[string]string{
		"redis://h:1": "rediss://", "redis+cluster://h:1": "WithTLSConfig", "redis+replicated://h:1": "WithTLSConfig",
		"redis+sentinel://h:1/orders": "WithSentinelTLSConfig",
	} {
		synctest.Test(t, func(t *testing.T) {
			silent := func(context.Context, string, string) (net.Conn, error) {
				here, there := net.Pipe()
				go func() { _, _ = io.Copy(io.Discard, there) }()
				return here, nil
			}
			if _, err := rlock.Open(t.Context(), url, rlock.WithDialer(silent)); err == nil || !strings.Contains(err.Error(), "a port with TLS answers like that: try "+hint) {
				t.Errorf("%s: %v", url, err)
			}
		})
	}
}
