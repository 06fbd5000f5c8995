package luasrc

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/testkit/leakcheck"
	"github.com/rlock-go/redisson/internal/testkit/monitor"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

const (
	key     = "order:17"
	owner   = "550e8400-e29b-41d4-a716-446655440000:31"
	other   = "7d444840-9dc0-41d1-b245-5ffdce74fad2:1"
	lease   = 30_000
	latchMs = 16_000
)

var (
	channel = codec.Channel(key)
	latch   = codec.Latch(key, "0123456789abcdef0123456789abcdef")
)

// rig is a server with the connections that the tests need.
type rig struct {
	t       *testing.T
	server  *redistest.Server
	conn    redis.Conn
	monitor *monitor.Stream
	sub     redis.PubSubConn
}

// newRig starts a server, loads the scripts and subscribes to the channels.
func newRig(t *testing.T) *rig {
	t.Helper()
	s := redistest.Start(t)
	r := &rig{t: t, server: s, conn: s.Dial(t), sub: redis.PubSubConn{Conn: s.Dial(t)}}
	for _, script := range Scripts() {
		sha, err := redis.String(r.conn.Do("SCRIPT", "LOAD", script.Source))
		if err != nil || sha != script.SHA1 {
			t.Fatalf("%s: the server calls it %s, we %s (%v)", script.Name, sha, script.SHA1, err)
		}
	}
	if err := r.sub.Subscribe(channel); err != nil {
		t.Fatal(err)
	}
	if _, ok := r.sub.Receive().(redis.Subscription); !ok {
		t.Fatal("not subscribed")
	}
	r.monitor = monitor.Tap(t, s.URL())
	return r
}

// do runs a command that prepares or checks something. The monitor skips it.
func (r *rig) do(command string, args ...any) any {
	r.t.Helper()
	reply, err := r.conn.Do(command, args...)
	if err != nil {
		r.t.Fatalf("%s %v: %v", command, args, err)
	}
	return reply
}

// run makes the call and checks the commands that its script ran, in order, each as one line with
// blanks.
func (r *rig) run(c Call, calls ...string) (any, error) {
	r.t.Helper()
	r.monitor.Mark()
	reply, err := r.conn.Do("EVALSHA", c.Args...)
	var got []string
	for _, l := range r.monitor.Mark() {
		if l.Lua() {
			got = append(got, l.String())
		}
	}
	if !slices.Equal(got, calls) {
		r.t.Errorf("calls\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(calls, "\n\t"))
	}
	return reply, err
}

// expect is run that also checks the reply.
func (r *rig) expect(c Call, want string, calls ...string) {
	r.t.Helper()
	reply, err := r.run(c, calls...)
	if err != nil {
		r.t.Errorf("%s: %v", c.Script.Name, err)
	} else if got := show(reply); got != want {
		r.t.Errorf("%s: reply %s, want %s", c.Script.Name, got, want)
	}
}

// refused is run for a call that must fail with WRONGTYPE.
func (r *rig) refused(c Call, calls ...string) {
	r.t.Helper()
	reply, err := r.run(c, calls...)
	if err == nil || !strings.Contains(err.Error(), "WRONGTYPE") {
		r.t.Errorf("%s: %v, %v; want WRONGTYPE", c.Script.Name, reply, err)
	}
}

// holds checks all keys of the server: the lock's hash as field=count pairs, and the content of
// the latch; "" is no such key.
func (r *rig) holds(lock map[string]string, latched string) {
	r.t.Helper()
	got, err := redis.StringMap(r.conn.Do("HGETALL", key))
	if err != nil || fmt.Sprint(got) != fmt.Sprint(lock) {
		r.t.Errorf("the lock is %v, %v; want %v", got, err, lock)
	}
	value, err := redis.String(r.conn.Do("GET", latch))
	if (err != nil && err != redis.ErrNil) || value != latched {
		r.t.Errorf("the latch is %q, %v; want %q", value, err, latched)
	}
	want := int64(min(len(lock), 1))
	if latched != "" {
		want++
	}
	if n := r.do("DBSIZE"); n != want {
		r.t.Errorf("%v keys on the server, want %d: %s", n, want, r.do("KEYS", "*"))
	}
}

// lives checks a TTL in ms, which may be a little less than it was set to.
func (r *rig) lives(name string, ms int64) {
	r.t.Helper()
	got := r.do("PTTL", name).(int64)
	if got > ms || got < ms-5_000 {
		r.t.Errorf("%s lives %d ms, want %d", name, got, ms)
	}
}

// published checks the messages since the last check. The last one is a marker that it sends
// itself.
func (r *rig) published(want ...string) {
	r.t.Helper()
	r.do("PUBLISH", channel, "marker")
	var got []string
	for {
		switch m := r.sub.Receive().(type) {
		case redis.Message:
			if string(m.Data) == "marker" {
				if !slices.Equal(got, want) {
					r.t.Errorf("published %q, want %q", got, want)
				}
				return
			}
			got = append(got, string(m.Data))
		default:
			r.t.Fatalf("subscriber: %v", m)
		}
	}
}

func show(reply any) string {
	switch v := reply.(type) {
	case []byte:
		return fmt.Sprintf("%q", v)
	case int64:
		return fmt.Sprint("int ", v)
	default:
		return fmt.Sprint(v)
	}
}
