package javapeer

import (
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
	"github.com/rlock-go/redisson/integration/internal/machineclock"
	"github.com/rlock-go/redisson/internal/redistest"
)

func TestWorkCountsExactlyAcrossPeers(t *testing.T) {
	eachVersion(t, func(t *testing.T, version string) {
		server := redistest.Start(t)
		redisConn := server.Dial(t)
		a, b := Start(t, version, server.Addr()), Start(t, version, server.Addr())
		if err := a.Warm(t.Context(), "warm", 2, 20); err != nil {
			t.Fatal(err)
		}
		if exists(t, redisConn, "warm:counter") {
			t.Error("warming left its counter behind")
		}
		w := Work{
			Name: "n", Counter: "c", Workers: 2,
			Hold: 200 * time.Microsecond, Think: 100 * time.Microsecond,
			For: 400 * time.Millisecond, StartAt: machineclock.Now() + (300 * time.Millisecond).Nanoseconds(),
		}
		// One of the two on a fixed lease, since that is another path in Java.
		leased := w
		leased.Lease = time.Minute
		of := []<-chan result[WorkResult]{
			call(func() (WorkResult, error) { return a.Work(t.Context(), w) }),
			call(func() (WorkResult, error) { return b.Work(t.Context(), leased) }),
		}
		var sum int64
		for _, c := range of {
			r, err := await(t, c)
			if err != nil {
				t.Fatal(err)
			}
			checkWorkResult(t, w, r)
			sum += r.Total
		}
		if n, err := redis.Int64(redisConn.Do("GET", "c")); err != nil || n != sum || n == 0 {
			t.Errorf("counter %d, %v; workers counted %d", n, err, sum)
		}
		if exists(t, redisConn, "n") {
			t.Error("still locked")
		}
	})
}

func checkWorkResult(t *testing.T, w Work, r WorkResult) {
	t.Helper()
	t.Logf("%+v", r)
	var workers int64
	for _, n := range r.PerWorker {
		workers += n
	}
	if len(r.PerWorker) != w.Workers || workers != r.Total {
		t.Errorf("workers %v make %d", r.PerWorker, r.Total)
	}
	if r.WaitP50 > r.WaitP99 || r.WaitP99 > r.WaitMax || r.WaitMax == 0 {
		t.Errorf("waits p50 %v, p99 %v, max %v", r.WaitP50, r.WaitP99, r.WaitMax)
	}
	if r.Started < w.StartAt || time.Duration(r.Ended-r.Started) < w.For-w.Hold {
		t.Errorf("ran from %d to %d, asked for %v from %d", r.Started, r.Ended, w.For, w.StartAt)
	}
	if most := w.For/w.Hold + 1; r.Total > int64(most) {
		t.Errorf("%d rounds of %v in %v", r.Total, w.Hold, w.For)
	}
}

func TestWorkersExceptionEndsTheLoad(t *testing.T) {
	server := redistest.Start(t)
	redisConn := server.Dial(t)
	p := Start(t, Newest, server.Addr())
	worked := call(func() (WorkResult, error) {
		return p.Work(t.Context(), Work{
			Name: "n", Counter: "c", Workers: 2, Hold: 100 * time.Millisecond, For: time.Minute,
		})
	})
	eventually(t, "a holder", func() bool { return exists(t, redisConn, "n") })
	if _, err := p.Thread("t1").ForceUnlock(t.Context(), "n"); err != nil {
		t.Fatal(err)
	}
	_, err := await(t, worked)
	wantJavaError(t, err, "java.lang.IllegalStateException")
}

func TestLateGrantIsReportedAndNotCounted(t *testing.T) {
	server := redistest.Start(t)
	redisConn := server.Dial(t)
	ok := must(t)
	p := Start(t, Newest, server.Addr())
	ok(p.Thread("t1").Lock(t.Context(), "n", Watchdog))
	began := machineclock.Now()
	worked := call(func() (WorkResult, error) {
		return p.Work(t.Context(), Work{Name: "n", Counter: "c", Workers: 1, For: 200 * time.Millisecond})
	})
	eventually(t, "a waiter past its end", func() bool {
		return waiters(t, redisConn, "n") == 1 && machineclock.Now()-began > (400*time.Millisecond).Nanoseconds()
	})
	ok(p.Thread("t1").Unlock(t.Context(), "n"))
	r, err := await(t, worked)
	if err != nil {
		t.Fatal(err)
	}
	if r.Total != 0 || r.Late != 1 || r.WaitMax < 200*time.Millisecond || exists(t, redisConn, "c") {
		t.Errorf("%+v", r)
	}
}
