package rlock

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/testkit/monitor"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// lastToken checks the server's last token, which never expires.
func lastToken(t *testing.T, l *Lock, want int64) {
	t.Helper()
	if got, err := l.LastToken(context.Background()); got != want || err != nil {
		t.Errorf("the last token is %d, %v; want %d", got, err, want)
	}
}

func TestEachGrantOfAFencedLockHasAHigherToken(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	a, b := open(t, s), open(t, s)
	la, lb := a.NewFencedLock("orders"), b.NewFencedLock("orders")
	lastToken(t, la, 0)
	outer := lockOf(t, la)
	inner := lockOf(t, la, As(outer.Owner()))
	if outer.Token() != 2 || inner.Token() != 2 {
		t.Errorf("after the re-entry the outer hold has token %d, the inner one %d", outer.Token(), inner.Token())
	}
	if _, err := lb.TryLock(t.Context()); !errors.Is(err, ErrLocked) {
		t.Errorf("another owner: %v", err)
	}
	if _, err := lb.TryLockFor(t.Context(), time.Second); !errors.Is(err, ErrLocked) {
		t.Errorf("another owner: %v", err)
	}
	lastToken(t, lb, 2)
	mustUnlock(t, inner)
	if outer.Token() != 2 {
		t.Errorf("the resource has seen 2, and the outer hold is back at %d", outer.Token())
	}
	waits := make(chan *Hold, 1)
	go func() { waits <- lockOf(t, lb) }()
	awaitListening(t, b, "orders")
	mustUnlock(t, outer)
	next := <-waits
	if next.Token() != 3 {
		t.Errorf("who waited has token %d", next.Token())
	}
	mustUnlock(t, next)
	if outer.Token() != 2 {
		t.Errorf("a hold that is over has token %d", outer.Token())
	}
	lastToken(t, la, 3)
	if ttl, err := conn.Do("PTTL", codec.TokenKey("orders")); ttl != int64(-1) || err != nil {
		t.Errorf("the tokens live for %v, %v", ttl, err)
	}
}

// An owner's commands wait for each other. The client drops the state for that at the end, but keeps the token.
func TestTokenOutlastsWhatTheOwnersCommandsTake(t *testing.T) {
	t.Parallel()
	l := open(t, redistest.Start(t)).NewFencedLock("orders")
	outer := lockOf(t, l)
	owner := outer.Owner()
	inner := make(chan *Hold, 8)
	for range cap(inner) {
		go func() { inner <- lockOf(t, l, As(owner)) }()
	}
	var wg sync.WaitGroup
	for range cap(inner) {
		h := <-inner
		wg.Go(func() { mustUnlock(t, h) })
	}
	wg.Wait()
	if outer.Token() != 9 {
		t.Errorf("token %d, want 9", outer.Token())
	}
	mustUnlock(t, outer)
}

// A holder that was paused for longer than its lease keeps its own token, and does not get the next holder's.
func TestTokenIsTheGrantsOwn(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	a, b := open(t, s), open(t, s)
	paused := lockOf(t, a.NewFencedLock("orders"), Lease(100*time.Millisecond))
	next := lockOf(t, b.NewFencedLock("orders"))
	if paused.Err() == nil || paused.Token() != 1 || next.Token() != 2 {
		t.Errorf("%v: the first has token %d, the next one %d", paused.Err(), paused.Token(), next.Token())
	}
	if was, err := a.NewFencedLock("orders").ForceUnlock(t.Context()); !was || err != nil {
		t.Errorf("%v, %v", was, err)
	}
	lastToken(t, a.NewFencedLock("orders"), 2)
	mustUnlock(t, lockOf(t, a.NewFencedLock("orders")))
	lastToken(t, a.NewFencedLock("orders"), 3)
}

func TestTokensGrowInTheOrderOfEntering(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	a, b := open(t, s), open(t, s)
	var tokens []int64 // guarded by the lock
	var wg sync.WaitGroup
	for i := range 12 {
		l := []*Client{a, b}[i%2].NewFencedLock("orders")
		wg.Go(func() {
			for range 20 {
				err := l.DoHold(context.Background(), func(_ context.Context, h *Hold) error {
					tokens = append(tokens, h.Token())
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if len(tokens) != 240 || tokens[0] != 1 || tokens[239] != 240 || !slices.IsSorted(tokens) {
		t.Errorf("%d tokens: %v", len(tokens), tokens)
	}
}

// A later holder has a higher token, whatever is lost, undone and tried again.
func TestTokensGrowWhileConnectionsBreak(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	a, b := open(t, s, WithCommandTimeout(10*time.Second)), open(t, s, WithCommandTimeout(10*time.Second))
	var over atomic.Bool
	defer over.Store(true)
	var mu sync.Mutex // guards tokens and inside
	var tokens []int64
	inside := 0
	entered := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(tokens)
	}
	var wg sync.WaitGroup
	for i := range 8 {
		l := []*Client{a, b}[i%2].NewFencedLock("orders")
		wg.Go(func() {
			for !over.Load() {
				err := l.DoHold(context.Background(), func(_ context.Context, h *Hold) error {
					mu.Lock()
					if inside++; inside != 1 {
						t.Error("two are inside")
					}
					tokens = append(tokens, h.Token())
					mu.Unlock()
					busy(100 * time.Microsecond)
					mu.Lock()
					inside--
					mu.Unlock()
					return h.Err()
				})
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	broken := 0
	for range 60 {
		before := entered()
		becomes(t, "some enter", func() bool { return entered() > before+5 })
		n, err := conn.Do("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
		if err != nil {
			t.Fatal(err)
		}
		broken += int(n.(int64))
	}
	over.Store(true)
	wg.Wait()
	last, err := a.NewFencedLock("orders").LastToken(t.Context())
	if err != nil || len(tokens) == 0 || last < tokens[len(tokens)-1] {
		t.Fatalf("%d entered, the last token is %d, %v", len(tokens), last, err)
	}
	for i := 1; i < len(tokens); i++ {
		if tokens[i] <= tokens[i-1] {
			t.Fatalf("token %d entered after %d", tokens[i], tokens[i-1])
		}
	}
	t.Logf("%d connections broke; %d entered, %d tokens were used up by others", broken, len(tokens), last-int64(len(tokens)))
	if n, err := conn.Do("EXISTS", "orders"); n != int64(0) || err != nil {
		t.Errorf("the lock is left: %v, %v", n, err)
	}
}

// Redisson mistakes another owner's lock without a TTL for a grant with token -1. This client does not.
func TestFencedLockThatNeverExpiresIsAnothers(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	l := open(t, s).NewFencedLock("orders")
	if _, err := conn.Do("HSET", "orders", "550e8400-e29b-41d4-a716-446655440000:31", 1); err != nil {
		t.Fatal(err)
	}
	if h, err := l.TryLock(t.Context()); !errors.Is(err, ErrLocked) {
		t.Errorf("%v, %v", h, err)
	}
	lastToken(t, l, 0)
}

func TestFencedLockMeetsWhatIsNone(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	conn := s.Dial(t)
	l := open(t, s).NewFencedLock("orders")
	tokens := codec.TokenKey("orders")
	for _, set := range [][]any{{"SET", "orders", "text"}, {"SET", tokens, "text"}, {"HSET", tokens, "a", "b"}} {
		if _, err := conn.Do(set[0].(string), set[1:]...); err != nil {
			t.Fatal(err)
		}
		before, err := conn.Do("DUMP", set[1])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.TryLock(t.Context()); !errors.Is(err, ErrRefused) {
			t.Errorf("%v: %v", set, err)
		}
		after, err := conn.Do("DUMP", set[1])
		if n, _ := conn.Do("DBSIZE"); err != nil || string(after.([]byte)) != string(before.([]byte)) || n != int64(1) {
			t.Errorf("%v: something was changed, %v", set, err)
		}
		if set[1] == tokens {
			if _, err := l.LastToken(t.Context()); !errors.Is(err, ErrRefused) {
				t.Errorf("%v: the last token: %v", set, err)
			}
		}
		if _, err := conn.Do("FLUSHALL"); err != nil {
			t.Fatal(err)
		}
	}
}

func TestOtherLocksHaveNoTokens(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := open(t, s)
	fenced := lockOf(t, c.NewFencedLock("orders"))
	tap := monitor.Tap(t, s.URL())
	for _, l := range []*Lock{c.NewLock("orders"), c.NewSpinLock("orders")} {
		if _, err := l.LastToken(t.Context()); !errors.Is(err, ErrInvalidOption) || !strings.Contains(err.Error(), "only NewFencedLock's locks have a token") {
			t.Errorf("%v", err)
		}
	}
	if lines := tap.Mark(); len(lines) > 0 {
		t.Errorf("it sent %v", lines)
	}
	// A plain lock has the same hash, so the owner re-enters it, and keeps its token.
	plain := lockOf(t, c.NewLock("orders"), As(fenced.Owner()))
	if plain.Token() != 1 {
		t.Errorf("token %d", plain.Token())
	}
	mustUnlock(t, plain)
	mustUnlock(t, fenced)
	alone := lockOf(t, c.NewLock("orders"))
	if alone.Token() != 0 {
		t.Errorf("a plain lock's token is %d", alone.Token())
	}
	mustUnlock(t, alone)
	lastToken(t, c.NewFencedLock("orders"), 1)
}

// A release of one kind wakes a waiter of the other, also within a client.
func TestFencedAndPlainLocksOfANameWakeEachOther(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	a, b := open(t, s, WithWatchdogTimeout(time.Hour)), open(t, s, WithWatchdogTimeout(time.Hour))
	for _, c := range []*Client{a, b} {
		h := lockOf(t, a.NewLock("orders"))
		waits := make(chan *Hold, 2)
		go func() { waits <- lockOf(t, c.NewFencedLock("orders")) }()
		awaitListening(t, c, "orders")
		mustUnlock(t, h)
		h = <-waits
		go func() { waits <- lockOf(t, c.NewLock("orders")) }()
		awaitListening(t, c, "orders")
		mustUnlock(t, h)
		mustUnlock(t, <-waits)
	}
}

func TestDoHoldGivesTheHold(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	l := open(t, s).NewFencedLock("orders")
	wrong := errors.New("wrong")
	err := l.DoHold(t.Context(), func(ctx context.Context, h *Hold) error {
		if h.Err() != nil || h.Token() != 1 || ctx.Err() != nil {
			t.Errorf("%v, token %d, %v", h.Err(), h.Token(), ctx.Err())
		}
		return wrong
	})
	if !errors.Is(err, wrong) {
		t.Error(err)
	}
	err = l.DoHold(t.Context(), func(ctx context.Context, h *Hold) error {
		mustUnlock(t, h)
		if !errors.Is(context.Cause(ctx), ErrReleased) {
			t.Errorf("its context: %v", context.Cause(ctx))
		}
		return nil
	})
	if !errors.Is(err, ErrReleased) {
		t.Errorf("it was unlocked before: %v", err)
	}
	h := lockOf(t, l)
	if err := l.DoHold(t.Context(), func(context.Context, *Hold) error { return nil }, Wait(0)); !errors.Is(err, ErrLocked) {
		t.Error(err)
	}
	mustUnlock(t, h)
}
