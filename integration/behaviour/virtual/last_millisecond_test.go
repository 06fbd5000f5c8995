package virtual_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/luasrc"
)

// In its last millisecond a key lives, and its TTL is 0.
func TestScriptsInTheLastMillisecondOfAKey(t *testing.T) {
	publish := luasrc.Publish
	number := luasrc.Number{Key: "key", Receipt: "receipt000", Begun: "begun", Channel: "channel", Publish: publish}
	for _, test := range []struct {
		name   string
		moving bool // the script gets the first key alone, as while a slot moves
		set    []string
		call   luasrc.Call
		reply  string // what it begins with
	}{
		{"a reader leaves beside one whose hold is at the other server", true, []string{"HSET", "key", "mode", "read", "a:1", "1", "b:1", "1"},
			luasrc.ReadUnlock(nil, "key", "channel", "{key}", nil, "a:1", 0, 0, luasrc.Left{}, publish), ":1\r\n"},
		{"a writer leaves whose hold to read is at the other server", true, []string{"HSET", "key", "mode", "write", "a:1:write", "1", "a:1", "1"},
			luasrc.WriteUnlock(nil, "key", "channel", "{key}", nil, "a:1", 0, 0, luasrc.Left{}, publish), ":0\r\n"},
		{"permits are taken from a semaphore that no call has marked", false, []string{"SET", "key", "5"},
			luasrc.SemaphoreAcquire(nil, number, 1, 1000, 1), ":"},
		{"permits are added to one", false, []string{"SET", "key", "5"}, luasrc.SemaphoreChange(number, 1000, "release", 1, 0, 1), ":"},
		{"a latch counts down that no call has marked", false, []string{"SET", "key", "5"}, luasrc.CountDown(number, 1000, "down", 0, 1), ":"},
	} {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				args := []string{"EVAL", test.call.Script.Source}
				for _, a := range test.call.Args[1:] {
					args = append(args, fmt.Sprint(a))
				}
				if test.moving {
					args[2] = "1"
				}
				time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
				r.do(test.set...)
				r.do("PEXPIRE", "key", "10")
				time.Sleep(10*time.Millisecond + 500*time.Microsecond)
				r.at(func() {
					if reply := string(r.server.Session("10.9.0.1").Do(args...)); !strings.HasPrefix(reply, test.reply) {
						t.Errorf("reply %q, want %q…", reply, test.reply)
					}
					if !r.server.Exists("key") {
						t.Error("the key was deleted")
					}
				})
			})
		})
	}
}
