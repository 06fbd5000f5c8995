package javapeer

import (
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
	"github.com/rlock-go/redisson/integration/internal/machineclock"
	"github.com/rlock-go/redisson/internal/redistest"
)

func TestPairsLocksWhatItWasTold(t *testing.T) {
	server := redistest.Start(t)
	redisConn := server.Dial(t)
	p := Start(t, Newest, server.Addr())
	for _, tc := range []struct {
		shared   bool
		free     string // must not matter to the load
		contends bool
	}{
		{false, "n", false},
		{true, "n0", true},
	} {
		// Whoever holds a name that the load does not use is not in its way.
		ok := must(t)
		ok(p.Thread("holder").Lock(t.Context(), tc.free, Watchdog))
		if _, err := redisConn.Do("CONFIG", "RESETSTAT"); err != nil {
			t.Fatal(err)
		}
		l := Pairs{Prefix: "n", Workers: 4, Shared: tc.shared, For: 300 * time.Millisecond}
		r, err := p.Pairs(t.Context(), l)
		if err != nil {
			t.Fatal(err)
		}
		ok(p.Thread("holder").Unlock(t.Context(), tc.free))
		published, err := redis.Int64(redisConn.Do("EVAL", `return tonumber(string.match(redis.call('info', 'commandstats'), 'cmdstat_publish:calls=(%d+)'))`, 0))
		if err != nil {
			t.Fatal(err)
		}
		// Each unlock announces one release, the holder's too.
		if r.Total < 10 || r.Late > int64(l.Workers) || published != r.Total+r.Late+1 {
			t.Errorf("shared %v: %+v, and %d releases", tc.shared, r, published)
		}
		if r.Handoffs > r.Total || r.Handoffs > 0 != tc.shared {
			t.Errorf("shared %v: %+v", tc.shared, r)
		}
		if r.Took < 200*time.Millisecond || r.Took > 5*time.Second {
			t.Errorf("shared %v: took %v of %v", tc.shared, r.Took, l.For)
		}
		if contended := channelsSeen(t, redisConn); contended != tc.contends {
			t.Errorf("shared %v: waiters %v", tc.shared, contended)
		}
	}
}

// channelsSeen tells whether anybody has subscribed since the last reset.
func channelsSeen(t *testing.T, c redis.Conn) bool {
	t.Helper()
	n, err := redis.Int(c.Do("EVAL", `return string.match(redis.call('info', 'commandstats'), 'cmdstat_subscribe:') and 1 or 0`, 0))
	if err != nil {
		t.Fatal(err)
	}
	return n == 1
}

func TestHandoverUnlocksAndSaysWhenItBegan(t *testing.T) {
	server := redistest.Start(t)
	redisConn := server.Dial(t)
	ok := must(t)
	thread := Start(t, Newest, server.Addr()).Thread("t1")
	ok(thread.Lock(t.Context(), "n", Watchdog))
	before := machineclock.Now()
	r := ok(thread.Handover(t.Context(), "n"))
	if began := r.Int(); began < before || began > r.At || r.At > machineclock.Now() {
		t.Errorf("asked at %d, began %d, ended %d", before, began, r.At)
	}
	if exists(t, redisConn, "n") {
		t.Error("still locked")
	}
	_, err := thread.Handover(t.Context(), "n")
	wantJavaError(t, err, "java.lang.IllegalMonitorStateException")
}
