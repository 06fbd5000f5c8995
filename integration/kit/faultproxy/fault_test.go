package faultproxy_test

import (
	"errors"
	"net"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/integration/kit/testbed"
)

func TestMain(m *testing.M) { testbed.Main(m, "8") }

// Each action does what its comment says, both to the command and to what its client sees. Tests that use the proxy
// show the rest, such as the records.
func TestEachActionDoesWhatItSays(t *testing.T) {
	const ends, silence = "the end", "silence"
	for action, row := range map[faultproxy.Action]struct {
		ran  string
		sees string // ends, silence, or a reply
	}{
		faultproxy.CutBefore: {"", ends},
		faultproxy.CutAfter:  {"v", ends},
		faultproxy.DropReply: {"v", silence},
		faultproxy.HoldReply: {"v", silence},
		faultproxy.Withhold:  {"", silence},
		faultproxy.Answer:    {"", "mine"},
		faultproxy.Replace:   {"v", "mine"},
		faultproxy.Blackhole: {"", silence},
	} {
		t.Run(action.String(), func(t *testing.T) {
			r := testbed.NewProxied(t, redisserver.Local(t))
			rule := r.Proxy.Add(faultproxy.Rule{Match: faultproxy.Command("set"), Times: 1, Do: action, Reply: []byte("+mine\r\n")})
			set := func(value string, within time.Duration) (any, error) {
				c, err := redis.Dial("tcp", r.Proxy.Addr(), redis.DialReadTimeout(within))
				testbed.Must(t, err)
				t.Cleanup(func() { c.Close() })
				return c.Do("SET", "k", value)
			}
			within := testbed.Patience
			if row.sees == silence {
				within = 100 * time.Millisecond
			}
			reply, err := set("v", within)
			var late net.Error
			silent := errors.As(err, &late) && late.Timeout()
			switch {
			case row.sees == ends && (err == nil || silent), row.sees == silence && !silent:
				t.Errorf("%v, %v; want %s", reply, err, row.sees)
			case row.sees == "mine" && (err != nil || reply != "mine"):
				t.Errorf("%v, %v", reply, err)
			}
			if ran := r.Text("GET", "k"); ran != row.ran {
				t.Errorf("the key is %q, want %q", ran, row.ran)
			}
			if rule.Hits() != 1 {
				t.Errorf("it was hit %d times", rule.Hits())
			}
			if _, err := set("second", testbed.Patience); err != nil || r.Text("GET", "k") != "second" {
				t.Errorf("another command does not pass: %v", err)
			}
		})
	}
}

// The client gets every reply from before the cut; else chance would decide what the client knows.
func TestCutLeavesRepliesBeforeIt(t *testing.T) {
	r := testbed.NewProxied(t, redisserver.Local(t))
	held := r.Proxy.Add(faultproxy.Rule{Match: faultproxy.Command("echo"), Times: 1, Do: faultproxy.HoldReply})
	cut := r.Proxy.Add(faultproxy.Rule{Match: faultproxy.Command("set"), Do: faultproxy.CutBefore})
	c, err := redis.Dial("tcp", r.Proxy.Addr(), redis.DialReadTimeout(testbed.Patience))
	testbed.Must(t, err)
	defer c.Close()
	for _, cmd := range [][]any{{"ECHO", "first"}, {"ECHO", "second"}, {"SET", "k", "v"}, {"ECHO", "never"}} {
		testbed.Must(t, c.Send(cmd[0].(string), cmd[1:]...))
	}
	testbed.Must(t, c.Flush())
	testbed.Receive(t, "the SET has come", cut.Hit())
	held.Release()
	for _, want := range []string{"first", "second"} {
		if got, err := redis.String(c.Receive()); got != want {
			t.Errorf("%q, %v, want %s", got, err, want)
		}
	}
	if reply, err := c.Receive(); err == nil {
		t.Errorf("%v behind the cut", reply)
	}
}
