package operations_test

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
)

// cluster starts a cluster with spread slots, and returns the address of the lock's master and a connection to it.
func (r *rig) cluster() (url, master string, conn redis.Conn) {
	c := topologytest.StartReplicated(r.T, 1, 1)
	server := 0
	if !c.Has(server, codec.Slot("invoices")) {
		server = 1
	}
	return c.ClusterURL(), c.Servers[server].Addr(), c.Conn(server)
}

func listeners(t *testing.T, conn redis.Conn, command string) int {
	t.Helper()
	reply, err := redis.Values(conn.Do("PUBSUB", command, testbed.Channel("invoices")))
	testbed.Must(t, err)
	n, err := redis.Int(reply[1], nil)
	testbed.Must(t, err)
	return n
}

// The page's commands free the lock in a cluster too, and reach clients that listen on only one sort of channel, as
// each Redisson does.
func TestForcingByHandWakesEveryWaiterOfACluster(t *testing.T) {
	t.Parallel()
	r := start(t)
	url, master, conn := r.cluster()
	r.Hold(r.openURL(url).NewLock("invoices"))
	e := testbed.Enter(r.Context(), r.openURL(url).NewLock("invoices"))
	heard := make(chan string, 2)
	for _, subscribe := range []string{"SUBSCRIBE", "SSUBSCRIBE"} {
		c, err := redis.Dial("tcp", master, redis.DialReadTimeout(patience))
		testbed.Must(t, err)
		defer c.Close()
		testbed.Do(t, c, subscribe, testbed.Channel("invoices"))
		go func() {
			reply, err := redis.Values(c.Receive())
			if err != nil || len(reply) != 3 {
				heard <- subscribe + " heard nothing"
				return
			}
			heard <- ""
		}()
	}
	r.Becomes("all listen", func() bool { return listeners(t, conn, "NUMSUB") == 2 && listeners(t, conn, "SHARDNUMSUB") == 2 })
	r.forceByHand(master, e)
	for range 2 {
		if wrong := testbed.Receive(t, "a message", heard); wrong != "" {
			t.Error(wrong)
		}
	}
}

// forceByHand types the page's commands into redis-cli at the lock's master, and waits until the waiter has entered.
func (r *rig) forceByHand(master string, waiter <-chan testbed.Entry) {
	r.Helper()
	steps := readPages(r.T)["Without the tool"].steps
	if len(steps) != 4 {
		r.Fatalf("the page has %d commands", len(steps))
	}
	for _, s := range steps {
		if got := r.cliAt(master, s.command); strings.Contains(strings.Join(got, " "), "ERR") {
			r.Errorf("%s: %s", s.command, got)
		}
	}
	began := time.Now()
	r.Unlock(r.Entered(waiter).Hold)
	r.Logf("entered %v after the messages", time.Since(began))
}

// Behind Sentinels the commands go to the master that a Sentinel names.
func TestForcingByHandBehindSentinels(t *testing.T) {
	t.Parallel()
	r := start(t)
	set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
	r.Hold(r.openURL(set.URL()).NewLock("invoices"))
	e := testbed.Enter(t.Context(), r.openURL(set.URL()).NewLock("invoices"))
	named := r.cliAt(set.Sentinels[0].Addr(), "SENTINEL GET-MASTER-ADDR-BY-NAME orders")
	if len(named) != 2 {
		t.Fatal(named)
	}
	master := net.JoinHostPort(strings.Split(named[0], `"`)[1], strings.Split(named[1], `"`)[1])
	r.Becomes("the waiter listens", func() bool {
		return strings.HasSuffix(strings.Join(r.cliAt(master, "PUBSUB NUMSUB redisson_lock__channel:{invoices}"), " "), "(integer) 1")
	})
	r.forceByHand(master, e)
}
