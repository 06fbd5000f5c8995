package invariants

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
	"github.com/rlock-go/redisson/integration/faultproxy"
	"github.com/rlock-go/redisson/integration/redisserver"
	"github.com/rlock-go/redisson/integration/testbed"
	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/rlock"
)

func TestMain(m *testing.M) { testbed.Main(m, "32") }

const (
	timeout = 2 * time.Second         // of one command
	patient = 10 * time.Second        // the same where replies are delayed on purpose
	soon    = 20 * time.Second        // far less than long, far more than anything here takes
	long    = 2 * time.Minute         // leases that must not be waited for
	stall   = 1500 * time.Millisecond // how late the machine may be in the middle of a test, with whatever is under way
	name    = "orders"
)

// rig is a server, the proxy before it, and a connection that goes around the proxy.
type rig struct {
	*testing.T
	server *redisserver.LocalServer
	proxy  *faultproxy.Proxy
	direct redis.Conn

	latchesMayStay bool // set by tests in which a latch must not be deleted
}

// newRig is of a test that runs beside others, since most of them wait.
func newRig(t *testing.T) *rig {
	t.Parallel()
	return rigAlone(t)
}

// rigAlone is of a test that looks at the whole process, or loads it.
func rigAlone(t *testing.T) *rig { return rigOn(t, redisserver.Local(t)) }

func rigOn(t *testing.T, server *redisserver.LocalServer) *rig {
	r := &rig{T: t, server: server, proxy: faultproxy.Start(t, server.Addr())}
	r.connect()
	r.loadScripts()
	t.Cleanup(r.nothingLeft)
	return r
}

// connect makes the direct connection, anew after a restart. It must outlive the clients, to look for what they left.
func (r *rig) connect() {
	r.Helper()
	if r.direct != nil {
		r.direct.Close()
	}
	conn, err := redis.DialURL(r.server.URL(), redis.DialConnectTimeout(soon), redis.DialReadTimeout(soon), redis.DialWriteTimeout(soon))
	if err != nil {
		r.Fatal(err)
	}
	r.direct = conn
}

// loadScripts spares tests the NOSCRIPT of each first use.
func (r *rig) loadScripts() {
	r.Helper()
	for _, s := range luasrc.Scripts() {
		r.do("SCRIPT", "LOAD", s.Source)
	}
}

// open makes a client whose connections pass the proxy; it is closed before the rig looks for what is left.
func (r *rig) open(opts ...rlock.Option) *rlock.Client {
	r.Helper()
	return r.openAt("redis://"+r.proxy.Addr(), opts...)
}

func (r *rig) openAt(url string, opts ...rlock.Option) *rlock.Client {
	r.Helper()
	return r.openWith(url, timeout, opts)
}

// openSlow is open with a command timeout that delayed replies do not exceed.
func (r *rig) openSlow(opts ...rlock.Option) *rlock.Client {
	r.Helper()
	return r.openWith("redis://"+r.proxy.Addr(), patient, opts)
}

func (r *rig) openWith(url string, timeout time.Duration, opts []rlock.Option) *rlock.Client {
	r.Helper()
	c, err := rlock.Open(r.Context(), url, append([]rlock.Option{rlock.WithCommandTimeout(timeout)}, opts...)...)
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { c.Close() })
	return c
}

func (r *rig) nothingLeft() {
	defer func() { r.direct.Close() }()
	if r.Failed() {
		return
	}
	r.becomes("no connection of a client is left", func() bool { return r.clients() == 1 })
	r.becomes("nothing is subscribed", func() bool { return len(r.channels()) == 0 })
	if !r.latchesMayStay {
		r.latchesGo()
	}
	for _, latch := range r.latches() {
		if ttl := r.number("PTTL", latch); ttl == -1 {
			r.Errorf("%s never expires", latch)
		}
	}
}

func (r *rig) do(cmd string, args ...any) any {
	r.Helper()
	v, err := r.direct.Do(cmd, args...)
	if err != nil {
		r.Fatalf("%s: %v", cmd, err)
	}
	return v
}

func (r *rig) number(cmd string, args ...any) int64 {
	r.Helper()
	n, err := redis.Int64(r.do(cmd, args...), nil)
	if err != nil {
		r.Fatalf("%s: %v", cmd, err)
	}
	return n
}

func (r *rig) strings(cmd string, args ...any) []string {
	r.Helper()
	list, err := redis.Strings(r.do(cmd, args...), nil)
	if err != nil {
		r.Fatalf("%s: %v", cmd, err)
	}
	return list
}

// clients counts the server's connections, the direct one included.
func (r *rig) clients() int {
	list, err := redis.String(r.do("CLIENT", "LIST"), nil)
	if err != nil {
		r.Fatal(err)
	}
	return strings.Count(list, "\n")
}

// connections counts those that the server ever accepted.
func (r *rig) connections() int {
	r.Helper()
	info, err := redis.String(r.do("INFO", "stats"), nil)
	if err != nil {
		r.Fatal(err)
	}
	_, rest, _ := strings.Cut(info, "total_connections_received:")
	text, _, _ := strings.Cut(rest, "\r")
	n, err := strconv.Atoi(text)
	if err != nil {
		r.Fatal(err)
	}
	return n
}

func (r *rig) latches() []string  { return r.strings("KEYS", "redisson_unlock_latch:*") }
func (r *rig) channels() []string { return r.strings("PUBSUB", "CHANNELS") }

// fields is what the server keeps of a lock.
func (r *rig) fields(key string) map[string]int {
	r.Helper()
	m, err := redis.IntMap(r.do("HGETALL", key), nil)
	if err != nil {
		r.Fatalf("HGETALL %s: %v", key, err)
	}
	return m
}

// heldOnlyBy fails unless the key has this owner's field alone, with this count.
func (r *rig) heldOnlyBy(key string, o rlock.Owner, count int) {
	r.Helper()
	if f := r.fields(key); len(f) != 1 || f[o.String()] != count {
		r.Errorf("%s is %v, want %s alone with %d", key, f, o, count)
	}
}

func (r *rig) free(key string) bool { return r.number("EXISTS", key) == 0 }

// gone waits until the key is not there any more, long before its lease could end.
func (r *rig) gone(key string) {
	r.Helper()
	r.becomes(key+" is free", func() bool { return r.free(key) })
}

// expires is when the server will drop the key.
func (r *rig) expires(key string) time.Time { return time.UnixMilli(r.number("PEXPIRETIME", key)) }

const stranger = "5f0e7a66-1a0e-4c0b-9d2f-0c7d3c8a1b22:7"

// occupy has a stranger hold the key for long.
func (r *rig) occupy(key string) {
	r.Helper()
	r.do("EVAL", "redis.call('hset',KEYS[1],ARGV[1],1) redis.call('pexpire',KEYS[1],ARGV[2])", 1, key, stranger, long.Milliseconds())
}

// vacate releases it as an unlock does, in one step.
func (r *rig) vacate(key string) {
	r.Helper()
	r.do("EVAL", "redis.call('del',KEYS[1]) redis.call('publish',ARGV[1],'0')", 1, key, channelOf(key))
}

func channelOf(key string) string { return "redisson_lock__channel:{" + key + "}" }

// becomes waits for a state.
func (r *rig) becomes(what string, state func() bool) {
	r.Helper()
	r.becomesWithin(soon, what, state)
}

func (r *rig) becomesWithin(most time.Duration, what string, state func() bool) {
	r.Helper()
	for end := time.Now().Add(most); !state(); {
		if time.Now().After(end) {
			r.Fatalf("never within %v: %s", most, what)
		}
		<-time.After(time.Millisecond)
	}
}

// latchesGo waits until no latch is left, less long than any takes to expire.
func (r *rig) latchesGo() {
	r.Helper()
	r.becomesWithin(5*time.Second, "no latch is left", func() bool { return len(r.latches()) == 0 })
}

// subscribers waits until the key's channel has n subscribers.
func (r *rig) subscribers(key string, n int) {
	r.Helper()
	r.becomes("waiters listen on "+key, func() bool {
		v, err := redis.Values(r.do("PUBSUB", "NUMSUB", channelOf(key)), nil)
		return err == nil && v[1] == int64(n)
	})
}
