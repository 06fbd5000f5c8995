package javapeer_test

import (
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/integration/kit/testbed"
)

func TestMain(m *testing.M) { testbed.Main(m, "4") }

func TestUnknownSettingIsRefused(t *testing.T) {
	_, err := javapeer.Launch(t.Context(), javapeer.Newest, redisserver.Local(t).Addr(), javapeer.Setting("noSuchThing", "1"))
	if err == nil || !strings.Contains(err.Error(), "has no setting noSuchThing") {
		t.Fatal(err)
	}
}

// If a wait ends before its subscription is confirmed, Redisson keeps the subscription until the JVM ends. The
// torture's check for leftovers relies on this.
func TestWaitThatEndsBeforeItIsSubscribedStaysSubscribed(t *testing.T) {
	t.Parallel()
	const wait = 2 * time.Second // Redisson ends a subscription within milliseconds
	for how, waits := range map[string]func(*javapeer.Thread) (javapeer.Reply, error){
		"interrupted": func(th *javapeer.Thread) (javapeer.Reply, error) {
			return th.LockInterruptibly(t.Context(), "n", javapeer.Watchdog)
		},
		"timed out": func(th *javapeer.Thread) (javapeer.Reply, error) {
			return th.TryLockFor(t.Context(), "n", wait, javapeer.Watchdog)
		},
	} {
		for when, late := range map[string]bool{"late": true, "in time": false} {
			t.Run(how+", confirmed "+when, func(t *testing.T) {
				t.Parallel()
				r := testbed.NewProxied(t, redisserver.Local(t))
				p := javapeer.Start(t, javapeer.Newest, r.Proxy.Addr())
				r.Do("HSET", "n", "somebody", 1)
				r.Do("PEXPIRE", "n", time.Hour.Milliseconds())
				rule := faultproxy.Rule{Match: faultproxy.Command("SUBSCRIBE"), Do: faultproxy.HoldReply, Times: 1}
				if !late {
					rule.Delay = time.Millisecond
				}
				reply := r.Proxy.Add(rule)
				th := p.Thread("t1")
				entered := make(chan bool, 1)
				go func() {
					got, err := waits(th)
					entered <- err == nil && (how == "interrupted" || got.Bool())
				}()
				r.Hit(reply)
				if !late {
					testbed.Must(t, th.AwaitParked(t.Context()))
				}
				if how == "interrupted" {
					if _, err := th.Interrupt(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				if testbed.Receive(t, "the end of the wait", entered) {
					t.Fatal("it got in")
				}
				reply.Release()
				if late {
					r.Stays("subscribed", wait, func() bool { return r.Subscribed("n") == 1 })
					p.Kill()
				}
				r.Becomes("nobody is subscribed", func() bool { return r.Subscribed("n") == 0 })
			})
		}
	}
}
