package rlocktest_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rlock-go/redisson/rlock"
	"github.com/rlock-go/redisson/rlocktest"
)

// opener is Open or OpenVirtual.
type opener = func(t testing.TB, opts ...rlock.Option) *rlocktest.Client

// onBoth runs a test on a server with real time, and in a bubble on one with virtual time.
func onBoth(t *testing.T, test func(t *testing.T, open opener)) {
	t.Run("real time", func(t *testing.T) {
		t.Parallel()
		test(t, rlocktest.Open)
	})
	t.Run("virtual time", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) { test(t, rlocktest.OpenVirtual) })
	})
}

func TestLeaseEnds(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, open opener) {
		client := open(t)
		lock := client.NewLock("orders")
		if _, err := lock.Lock(t.Context(), rlock.Lease(3*time.Second)); err != nil {
			t.Fatal(err)
		}
		next, err := lock.Lock(t.Context(), rlock.Wait(time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		if err := next.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestLockThatIsTakenAwayIsLostAtOnce(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, open opener) {
		client := open(t)
		lock := client.NewLock("orders")
		err := lock.Do(t.Context(), func(ctx context.Context) error {
			client.TakeAway("orders")
			<-ctx.Done()
			if cause := context.Cause(ctx); !errors.Is(cause, rlock.ErrLeaseLost) {
				t.Errorf("fn's context ended with %v", cause)
			}
			return nil
		})
		if !errors.Is(err, rlock.ErrLeaseLost) {
			t.Errorf("Do returned %v", err)
		}
		if locked, err := lock.IsLocked(t.Context()); locked || err != nil {
			t.Errorf("locked %v, %v", locked, err)
		}
	})
}

func TestLockThatIsHeldElsewhere(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, open opener) {
		client := open(t)
		lock := client.NewLock("orders")
		hold := client.HoldElsewhere("orders")
		if _, err := lock.TryLock(t.Context()); !errors.Is(err, rlock.ErrLocked) {
			t.Errorf("TryLock of a taken lock: %v", err)
		}
		entered := make(chan error, 1)
		go func() { entered <- lock.Do(t.Context(), func(context.Context) error { return nil }) }()
		if err := hold.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
		if err := <-entered; err != nil {
			t.Error(err)
		}
	})
}

// An acquire or an unlock whose reply is lost is sent again, and counts once.
// Neither is an error.
func TestLostReplies(t *testing.T) {
	t.Parallel()
	for what, lose := range map[string]struct{ acquire, unlock bool }{"acquire": {acquire: true}, "unlock": {unlock: true}} {
		t.Run(what, func(t *testing.T) {
			onBoth(t, func(t *testing.T, open opener) {
				var log bytes.Buffer
				client := open(t, rlock.WithLogger(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))))
				lock := client.NewLock("orders")
				if lose.acquire {
					client.LoseReply()
				}
				hold, err := lock.TryLock(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if count, err := lock.HoldCount(t.Context(), hold.Owner()); count != 1 || err != nil {
					t.Errorf("%d holds, %v", count, err)
				}
				if lose.unlock {
					client.LoseReply()
				}
				if err := hold.Unlock(t.Context()); err != nil {
					t.Error(err)
				}
				if locked, err := lock.IsLocked(t.Context()); locked || err != nil {
					t.Errorf("locked %v, %v", locked, err)
				}
				client.Close()
				if !strings.Contains(log.String(), "unanswered=1") {
					t.Errorf("no reply was lost:\n%s", &log)
				}
			})
		})
	}
}

func TestServerThatStopsAndStarts(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, open opener) {
		client := open(t, rlock.WithCommandTimeout(time.Second))
		lock := client.NewLock("orders")
		hold, err := lock.Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		client.StopServer()
		// A command may have been written before the client noticed that the connection had ended.
		_, err = client.NewLock("others").TryLock(t.Context())
		if !errors.Is(err, rlock.ErrUnavailable) && !errors.Is(err, rlock.ErrUncertain) {
			t.Errorf("TryLock without a server: %v", err)
		}
		if err := hold.Err(); err != nil {
			t.Errorf("the hold ended with the connection: %v", err)
		}
		client.StopServer() // which does nothing
		client.StartServer()
		client.StartServer() // nor does this
		if err := client.NewLock("others").Do(t.Context(), func(context.Context) error { return nil }, rlock.Wait(time.Minute)); err != nil {
			t.Errorf("with the server back: %v", err)
		}
		if err := hold.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// Another client on the same server stands for another process.
func TestURLIsForFurtherClients(t *testing.T) {
	t.Parallel()
	client := rlocktest.Open(t)
	other, err := rlock.Open(t.Context(), client.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	seesTheOthers(t, client, other)
}

func TestAnotherClientIsAnotherProcess(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, open opener) {
		client := open(t)
		seesTheOthers(t, client, client.Another())
	})
}

func seesTheOthers(t *testing.T, client *rlocktest.Client, other *rlock.Client) {
	t.Helper()
	hold, err := client.NewLock("orders").Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if held, err := other.NewLock("orders").IsHeldBy(t.Context(), hold.Owner()); !held || err != nil {
		t.Errorf("held %v, %v", held, err)
	}
}
