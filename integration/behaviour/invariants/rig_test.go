package invariants

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

func TestMain(m *testing.M) { testbed.Main(m, "8") }

const (
	timeout   = 2 * time.Second         // of one command
	patient   = 10 * time.Second        // the same where replies are delayed on purpose
	soon      = 20 * time.Second        // far less than long, far more than any call takes
	long      = 2 * time.Minute         // leases that no test waits for
	brief     = 1500 * time.Millisecond // short waits and leases
	latencies = 50 * time.Millisecond   // what the simulated network may add to a bound
	name      = "orders"
)

// server is a test's own, a model or a process.
type server interface {
	redisserver.Server
	Pause()
	Resume()
	Wipe() // restarts it without its data
}

// rig is a test's own server with a proxy before it.
type rig struct {
	*testbed.Proxied
	server server
	kind   testbed.Kind // of the locks

	latchesMayStay bool // set by tests in which a latch must not be deleted
}

// client makes locks of its test's kind.
type client struct {
	*rlock.Client
	kind testbed.Kind
}

func (c client) NewLock(name string) *rlock.Lock { return c.kind.New(c.Client, name) }

// play runs a test in virtual time, with a model of Redis behind a proxy.
func play(t *testing.T, test func(t *testing.T, r *rig)) {
	t.Helper()
	t.Parallel()
	playAlone(t, test)
}

// playAlone is play for a test that looks at the whole process, or loads it.
func playAlone(t *testing.T, test func(t *testing.T, r *rig)) {
	t.Helper()
	kind := kindOf(t)
	testbed.Simulate(t, func(p *testbed.Proxied, s *testbed.SimulatedServer) {
		r := &rig{Proxied: p, server: s, kind: kind}
		r.LoadScripts()
		r.Cleanup(r.nothingLeft)
		test(r.T, r)
	})
}

// newRig makes a rig with a real server, for what only that shows, and for a test that runs in parallel.
func newRig(t *testing.T) *rig {
	t.Parallel()
	return rigAlone(t)
}

// rigAlone makes a rig for a test that looks at the whole process, or loads it.
func rigAlone(t *testing.T) *rig { return rigOn(t, redisserver.Local(t)) }

func rigOn(t *testing.T, server *redisserver.LocalServer) *rig {
	r := &rig{Proxied: testbed.NewProxied(t, server), server: server, kind: kindOf(t)}
	r.LoadScripts()
	t.Cleanup(r.nothingLeft)
	return r
}

// open makes a client whose connections pass the proxy. It is closed before the rig looks for leftovers.
func (r *rig) open(opts ...rlock.Option) client {
	r.Helper()
	return r.openAt(r.URL(), opts...)
}

func (r *rig) openAt(url string, opts ...rlock.Option) client {
	r.Helper()
	return r.openWith(url, timeout, opts)
}

// openSlow is open with a command timeout that is longer than the delays of replies.
func (r *rig) openSlow(opts ...rlock.Option) client {
	r.Helper()
	return r.openWith(r.URL(), patient, opts)
}

func (r *rig) openWith(url string, timeout time.Duration, opts []rlock.Option) client {
	r.Helper()
	if r.Dial == nil {
		timeout = max(timeout, testbed.Patience) // a real server is slow where the machine is
	}
	return client{r.Open(url, append([]rlock.Option{rlock.WithCommandTimeout(timeout)}, opts...)...), r.kind}
}

func (r *rig) nothingLeft() {
	if r.Failed() {
		return
	}
	r.Becomes("no connection of a client is left", func() bool { return r.Clients() == 0 })
	r.Becomes("nothing is subscribed", func() bool { return len(r.Channels()) == 0 })
	if !r.latchesMayStay {
		r.latchesGo()
	}
	for _, latch := range r.Latches() {
		if ttl := r.Number("PTTL", latch); ttl == -1 {
			r.Errorf("%s never expires", latch)
		}
	}
}

func (r *rig) fields(key string) map[string]int {
	r.Helper()
	m, err := testbed.Counts(r.Do("HGETALL", key), nil)
	if err != nil {
		r.Fatalf("HGETALL %s: %v", key, err)
	}
	return m
}

// heldOnlyBy fails unless the key has only this owner's field, with this count.
func (r *rig) heldOnlyBy(key string, o rlock.Owner, count int) {
	r.Helper()
	if f := r.fields(key); len(f) != 1 || f[o.String()] != count {
		r.Errorf("%s is %v, want %s alone with %d", key, f, o, count)
	}
}

// keys counts the server's keys, except the token counters, which stay.
func (r *rig) keys() int {
	r.Helper()
	return r.Number("DBSIZE") - len(r.Strings("KEYS", "redisson_lock_token:*"))
}

// channels returns how many channels that many waiters of one lock subscribe to.
func (r *rig) channels(waiters int) int {
	if r.kind.Fair {
		return waiters
	}
	return 1
}

// lives waits for d, and fails as soon as a hold or its context has ended.
func (r *rig) lives(d time.Duration, holds ...interface{ Err() error }) {
	r.Helper()
	began := time.Now()
	for ; time.Since(began) < d; time.Sleep(5 * time.Millisecond) {
		for _, h := range holds {
			if err := h.Err(); err != nil {
				r.Fatalf("%v is over after %v: %v", h, time.Since(began), err)
			}
		}
	}
}

// connected waits until the lock's client has an answer.
func (r *rig) connected(l *rlock.Lock) {
	r.Helper()
	r.Becomes("connected", func() bool { _, err := l.IsLocked(r.Context()); return err == nil })
}

// expires is when the server will drop the key.
func (r *rig) expires(key string) time.Time {
	return time.UnixMilli(int64(r.Number("PEXPIRETIME", key)))
}

const stranger = "5f0e7a66-1a0e-4c0b-9d2f-0c7d3c8a1b22:7"

// another is an owner of the stranger's client.
func another(t testing.TB, thread string) rlock.Owner {
	t.Helper()
	client, _, _ := strings.Cut(stranger, ":")
	return parse(t, client+":"+thread)
}

// parse returns the owner that a text names.
func parse(t testing.TB, text string) rlock.Owner {
	t.Helper()
	o, err := rlock.ParseOwner(text)
	testbed.Must(t, err)
	return o
}

func (r *rig) occupy(key string) {
	r.Helper()
	r.give(key, stranger, r.kind.Mode != "")
}

// give has an owner hold the key for long, in the way of this kind of lock, or as a writer.
func (r *rig) give(key, owner string, write bool) {
	r.Helper()
	fields := "ARGV[1],1"
	switch {
	case write:
		fields = "'mode','write',ARGV[1]..':write',1"
	case r.kind.Mode != "":
		fields += ",'mode','read'"
	}
	r.Do("EVAL", "redis.call('hset',KEYS[1],"+fields+") redis.call('pexpire',KEYS[1],ARGV[2])", 1, key, owner, long.Milliseconds())
}

// vacate releases the key and announces it in one step, like an unlock.
func (r *rig) vacate(key string) {
	r.Helper()
	r.Do("EVAL", `redis.call('del',KEYS[1])
		local head = redis.call('lindex',KEYS[2],0)
		redis.call('publish',ARGV[1]..(head and ':'..head or ''),'0')
		redis.call('publish',ARGV[2],'1')`, 2, key, codec.FairQueue(key), testbed.Channel(key), testbed.ReadWriteChannel(key))
}

// publish announces a release that did not happen.
func (r *rig) publish(key, message string) {
	r.Helper()
	r.storm(key, message, 1)
}

// storm publishes n times at once.
func (r *rig) storm(key, message string, n int) {
	r.Helper()
	channel := testbed.Channel(key)
	switch {
	case r.kind.Mode != "":
		channel = testbed.ReadWriteChannel(key)
	case r.kind.Fair:
		channel += ":" + r.Text("LINDEX", codec.FairQueue(key), 0)
	}
	r.Do("EVAL", "for i=1,tonumber(ARGV[3]) do redis.call('publish',ARGV[1],ARGV[2]) end", 0, channel, message, n)
}

// latchesGo waits until no latch is left, for less time than any takes to expire.
func (r *rig) latchesGo() {
	r.Helper()
	testbed.BecomesWithin(r.T, 5*time.Second, "no latch is left", func() bool { return len(r.Latches()) == 0 })
}

// with runs a test with each fault, in a subtest with its own rig.
func with(t *testing.T, each []faultproxy.Action, test func(t *testing.T, r *rig, do faultproxy.Action)) {
	for _, do := range each {
		t.Run(do.String(), func(t *testing.T) {
			play(t, func(t *testing.T, r *rig) { test(t, r, do) })
		})
	}
}

// cutOff refuses new connections and cuts the existing ones.
func (r *rig) cutOff() {
	r.Proxy.Refuse(true)
	r.Proxy.CutAll()
}

// each runs a test with each case, in a subtest with its own rig.
func each[T any](t *testing.T, cases map[string]T, test func(t *testing.T, r *rig, one T)) {
	for what, one := range cases {
		t.Run(what, func(t *testing.T) {
			play(t, func(t *testing.T, r *rig) { test(t, r, one) })
		})
	}
}

// unlockUnderWay enters twice and has the inner unlock meet a fault. Its owner's command queue is busy until released
// has the outcome.
func (r *rig) unlockUnderWay(l *rlock.Lock, fault faultproxy.Rule) (outer *rlock.Hold, late *faultproxy.Handle, released <-chan error) {
	r.Helper()
	outer = lock(r, l)
	inner := lock(r, l, rlock.As(outer.Owner()))
	_ = outer.Owner().String() // from here on its unlocks have a latch
	fault.Match, fault.Times = unlocks, 1
	late = r.Proxy.Add(fault)
	released = testbed.Begun(func() error { return inner.Unlock(context.Background()) })
	r.Hit(late)
	return outer, late, released
}
