package javapeer

import (
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/faultproxy"
	"github.com/rlock-go/redisson/internal/redistest"
)

// A wait that ends before its subscription is confirmed leaves the subscription for as long as the JVM lives. The
// torture's check of what is left counts on it.
func TestWaitThatEndsBeforeItIsSubscribedStaysSubscribed(t *testing.T) {
	const (
		wait       = 2 * time.Second
		longEnough = 2 * time.Second // Redisson ends a subscription within some milliseconds
	)
	for how, waits := range map[string]func(*Thread) (Reply, error){
		"interrupted": func(th *Thread) (Reply, error) { return th.LockInterruptibly(t.Context(), "n", Watchdog) },
		"timed out":   func(th *Thread) (Reply, error) { return th.TryLockFor(t.Context(), "n", wait, Watchdog) },
	} {
		for when, late := range map[string]bool{"late": true, "in time": false} {
			t.Run(how+", confirmed "+when, func(t *testing.T) {
				t.Parallel()
				server := redistest.Start(t)
				redisConn := server.Dial(t)
				proxy := faultproxy.Start(t, server.Addr())
				p := Start(t, Newest, proxy.Addr())
				if _, err := redisConn.Do("HSET", "n", "somebody", 1); err != nil {
					t.Fatal(err)
				}
				if _, err := redisConn.Do("PEXPIRE", "n", time.Hour.Milliseconds()); err != nil {
					t.Fatal(err)
				}
				rule := faultproxy.Rule{Match: faultproxy.Command("SUBSCRIBE"), Do: faultproxy.HoldReply, Times: 1}
				if !late {
					rule.Delay = time.Millisecond
				}
				reply := proxy.Add(rule)
				th := p.Thread("t1")
				ended := call(func() (Reply, error) { return waits(th) })
				<-reply.Hit()
				if !late {
					awaitParked(t, th)
				}
				if how == "interrupted" {
					if _, err := th.Interrupt(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				if r, err := await(t, ended); err == nil && r.Bool() {
					t.Fatal("it got in")
				}
				reply.Release()
				if !late {
					eventually(t, "nobody is subscribed", func() bool { return waiters(t, redisConn, "n") == 0 })
					return
				}
				time.Sleep(longEnough)
				if n := waiters(t, redisConn, "n"); n != 1 {
					t.Errorf("%d connections are subscribed", n)
				}
				p.Kill()
				eventually(t, "nobody is subscribed", func() bool {
					left, err := redis.Strings(redisConn.Do("PUBSUB", "CHANNELS"))
					return err == nil && len(left) == 0
				})
			})
		}
	}
}
