//go:build unix

package cookbook_test

import (
	"fmt"
	"net/http"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
)

func TestRecipesOnACluster(t *testing.T) {
	t.Parallel()
	cluster := topologytest.StartReplicated(t, 1, 1, 1)
	conn, err := topologytest.Dial(cluster.ClusterURL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	cook(t, cluster.ClusterURL(), conn)
	for i := range 3 {
		if n := topologytest.Calls(t, cluster.Conn(i), "evalsha"); n == 0 {
			t.Errorf("server %d ran no script: the keys should be on all", i)
		}
	}
}

func TestRecipesBehindSentinels(t *testing.T) {
	t.Parallel()
	set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
	cook(t, set.URL(), set.Master().Dial(t))
}

func TestRecipesOnAReplicatedSet(t *testing.T) {
	t.Parallel()
	set := redistest.StartReplicated(t, 1)
	set.Swap(set.Nodes[0], set.Nodes[1])
	cook(t, set.URL(), set.Nodes[1].Dial(t))
}

// cook runs each recipe by a URL alone. The other tests show on one server what
// becomes of each trouble; here it is shown that each does its work.
func cook(t *testing.T, url string, conn redis.Conn) {
	t.Helper()
	run := func(program string, args ...string) *process { t.Helper(); return startBy(t, url, program, args...) }

	// Those that take their time begin here and are looked at below.
	first := run("leader") // with a lease of 30 s
	first.await("leads")
	second := run("leader")
	db := database(t)
	paused := run("fencing", db, "-add=100", "-stall=write", fmt.Sprint("-watchdog=", lease))
	paused.await("stalls before the write")
	paused.signal(syscall.SIGSTOP)
	other := run("fencing", db, "-add=5")
	service := run("shutdown", "-addr=127.0.0.1:0", "-work=1s")

	minute := "-at=" + time.Now().UTC().Truncate(time.Minute).Format(time.RFC3339)
	fleet := []*process{run("cron", minute), run("cron", minute), run("cron", minute)}
	ran := 0
	for _, p := range fleet {
		if code := p.end(); code != 0 || p.count("done")+p.count("skipped") != 1 {
			t.Errorf("exit code %d, %q", code, p.printed())
		}
		ran += p.count("done")
	}
	if runs := number(t, conn, "LLEN", "{report}:runs"); ran != 1 || runs != 1 {
		t.Errorf("%d processes say that they did it, it was done %d times", ran, runs)
	}

	run("handover", "submit").wantEnd(0, "submitted 4711")
	run("handover", "submit").wantEnd(1, `rlock: acquire "order:4711": locked by another owner`)
	run("handover", "work", "-work=1ms").wantEnd(0, "works on 4711")

	works := requests(t, service)("8") // fencing has an account 7
	service.await("settles")
	service.signal(syscall.SIGTERM)
	if got := <-works; got != http.StatusOK {
		t.Errorf("the request at work got %d", got)
	}
	service.wantEnd(0, "ended in good order")

	// Woken by the unlock, long before the lease would end.
	second.await("stands")
	first.signal(syscall.SIGTERM)
	second.await("leads")
	second.signal(syscall.SIGTERM)
	var ended sync.WaitGroup
	for _, p := range []*process{first, second} {
		ended.Go(func() { <-p.done })
	}
	ended.Wait()

	other.wantEnd(0, "token 2: 0 + 5 = 5")
	paused.goOn()
	paused.wantEnd(1, "write with token 1 refused")

	for _, lock := range []string{"report", "leader", "lock:account:7", "order:4711", "account:8"} {
		if number(t, conn, "EXISTS", lock) != 0 {
			t.Errorf("the lock %s is left", lock)
		}
	}
}
