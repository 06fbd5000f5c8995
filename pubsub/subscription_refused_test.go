package pubsub

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// limited dials as a user who may only use channels ok*, and may not PING.
func limited(t *testing.T, srv *redistest.Server) DialFunc {
	t.Helper()
	do(t, srv.Dial(t), "ACL", "SETUSER", "limited", "on", ">secret",
		"+@all", "-ping", "~*", "resetchannels", "&ok*")
	return own(srv.Addr(), redis.DialUsername("limited"), redis.DialPassword("secret"))
}

func TestForbiddenChannelIsRefusedAlone(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "some PINGs are waited for")
	srv := redistest.Start(t)
	gate := make(chan struct{})
	h := newHub(t, gated(gate, limited(t, srv)), Options{Timeout: 3 * time.Second})
	c := srv.Dial(t)
	var fine, bad []*recorder
	var badSubs []*Subscription
	for i := range 200 {
		r := new(recorder)
		if i%50 == 7 {
			bad = append(bad, r, r)
			badSubs = append(badSubs, h.Subscribe(fmt.Sprint("bad", i), r), h.Subscribe(fmt.Sprint("bad", i), r))
			continue
		}
		fine = append(fine, r)
		h.Subscribe(fmt.Sprint("ok", i), r)
	}
	close(gate)
	for _, r := range fine {
		r.await(t, "confirmed", 1)
	}
	for _, r := range bad {
		r.await(t, "refused", 2) // each recorder has two subscriptions
		await(t, "NOPERM in the error", func() bool {
			return r.refusal() != nil && strings.Contains(r.refusal().Error(), "NOPERM")
		})
		if got := r.all(); !slices.Equal(got, []string{"refused", "refused"}) {
			t.Errorf("got %q", got)
		}
	}
	// A refused PING must not make the server count as silent.
	await(t, "refused PINGs", func() bool { return pingsRefused(t, c) >= 2 })
	for _, r := range fine {
		if got := r.all(); !slices.Equal(got, []string{"confirmed"}) {
			t.Errorf("got %q", got)
		}
	}
	if h.Channels() != len(fine) {
		t.Errorf("%d channels, want %d", h.Channels(), len(fine))
	}
	for _, s := range badSubs {
		s.Close()
	}

	// Once the server permits the channel, the next subscription gets it.
	do(t, c, "ACL", "SETUSER", "limited", "&*")
	again := new(recorder)
	h.Subscribe("bad7", again)
	again.await(t, "confirmed", 1)
}

func pingsRefused(t *testing.T, c redis.Conn) int64 {
	t.Helper()
	stats, err := redis.String(do(t, c, "INFO", "commandstats"), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, ping, _ := strings.Cut(stats, "cmdstat_ping:")
	_, rejected, ok := strings.Cut(ping, "rejected_calls=")
	if !ok {
		return 0
	}
	var n int64
	fmt.Sscan(rejected[:strings.IndexAny(rejected, ",\r")], &n)
	return n
}

// If a user's channels are taken away, the server closes its connection.
func TestChannelForbiddenLaterIsRefused(t *testing.T) {
	t.Parallel()
	srv := redistest.Start(t)
	h := newHub(t, limited(t, srv), Options{})
	c := srv.Dial(t)
	keeps, loses := new(recorder), new(recorder)
	h.Subscribe("ok1", keeps)
	h.Subscribe("ok2", loses)
	keeps.await(t, "confirmed", 1)
	loses.await(t, "confirmed", 1)
	do(t, c, "ACL", "SETUSER", "limited", "resetchannels", "&ok1")
	loses.await(t, "refused", 1)
	keeps.await(t, "confirmed", 2)
	if keeps.count("refused") != 0 {
		t.Error("the permitted one was refused too")
	}
}

func TestPermanentDialErrorRefusesThoseNeverConfirmed(t *testing.T) {
	t.Parallel()
	srv := redistest.Start(t)
	right, wrong := own(srv.Addr()), own(srv.Addr(),
		redis.DialUsername("nobody"), redis.DialPassword("wrong"))
	var locked atomic.Bool
	h := newHub(t, func(ctx context.Context) (redis.Conn, error) {
		if locked.Load() {
			return wrong(ctx)
		}
		return right(ctx)
	}, Options{Permanent: func(err error) bool {
		e, ok := errors.AsType[redis.Error](err)
		return ok && strings.HasPrefix(string(e), "WRONGPASS")
	}})
	old := new(recorder)
	h.Subscribe("c", old)
	old.await(t, "confirmed", 1)

	locked.Store(true)
	do(t, srv.Dial(t), "CLIENT", "KILL", "TYPE", "pubsub")
	await(t, "the loss is noticed", func() bool { return !connected(h) })
	fresh, other := new(recorder), new(recorder)
	h.Subscribe("c", fresh)
	s := h.Subscribe("d", other)
	fresh.await(t, "refused", 1)
	other.await(t, "refused", 1)
	s.Close()
	if h.Channels() != 1 {
		t.Errorf("%d channels, want the old one's", h.Channels())
	}

	locked.Store(false)
	old.await(t, "confirmed", 2)
	if got := old.all(); !slices.Equal(got, []string{"confirmed", "confirmed"}) {
		t.Errorf("the confirmed one got %q", got)
	}
	if got := fresh.all(); !slices.Equal(got, []string{"refused"}) {
		t.Errorf("the refused one got %q", got)
	}
}

func TestFlagTellsRefusal(t *testing.T) {
	t.Parallel()
	f := NewFlag()
	h := newHub(t, func(context.Context) (redis.Conn, error) {
		return nil, errors.New("hopeless")
	}, Options{Permanent: func(error) bool { return true }})
	h.Subscribe("c", f)
	<-f.C()
	if err := f.Err(); err == nil || err.Error() != "hopeless" {
		t.Errorf("Err is %v", err)
	}
}
