package timing

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
	"github.com/rlock-go/redisson/rlocktest/simnet"
	"github.com/rlock-go/redisson/rlocktest/simredis"
)

// The test in this file calls every public method that takes a context and may fail, in every kind of trouble. It
// finds the methods by reflection, so a new method is included.

const (
	callTimeout = time.Second                        // the command timeout, T of the comments
	sendsFor    = 4*callTimeout + time.Second        // for how long a release or a change is retried
	onePermit   = "00112233445566778899aabbccddeeff" // the id of a permit that somebody took
)

// callBounds are the longest times that calls block while ctx lasts, by method. The others have callBound.
var callBounds = map[string]time.Duration{
	"Unlock": sendsFor, "UnlockAs": sendsFor, "Release": sendsFor, "ReleaseIfExists": sendsFor, "ReleaseIDs": sendsFor,
	"CountDown": sendsFor, "AddPermits": sendsFor, "SetPermits": sendsFor, "TrySetPermits": sendsFor, "SetLease": sendsFor,
	"TrySetCount": sendsFor, "Drain": sendsFor, "Delete": sendsFor, "Shutdown": sendsFor,
	"Do": callBound + sendsFor, "DoHold": callBound + sendsFor, // an acquire and a release
}

// callBound is a command timeout, and another one to find out about a lost acquire.
const callBound = 2 * callTimeout

// changesKeys are the methods whose success changes keys for good.
var changesKeys = []string{"Unlock", "UnlockAs", "Release", "ReleaseIfExists", "ReleaseIDs", "CountDown", "AddPermits", "Drain", "Delete", "ForceUnlock", "Lock", "TryLock", "TryLockFor"}

// calledObject makes the object whose methods are called. setUp creates the keys that it has before a call.
type calledObject struct {
	of    string
	make  func(t *testing.T, c *rlock.Client, name string) any
	setUp func(conn redis.Conn, name string) error
}

func lockObject(kind func(*rlock.Client, string) *rlock.Lock) func(*testing.T, *rlock.Client, string) any {
	return func(_ *testing.T, c *rlock.Client, name string) any { return kind(c, name) }
}

func holdObject(kind func(*rlock.Client, string) *rlock.Lock) func(*testing.T, *rlock.Client, string) any {
	return func(t *testing.T, c *rlock.Client, name string) any {
		h, err := kind(c, name).TryLock(t.Context(), rlock.Lease(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
}

func numberIs(n int) func(redis.Conn, string) error {
	return func(conn redis.Conn, name string) error { _, err := conn.Do("SET", name, n); return err }
}

func permitsAre(conn redis.Conn, name string) error {
	id := make([]byte, 0, 16)
	_, err := fmt.Sscanf(onePermit, "%x", &id)
	_, err2 := conn.Do("SET", name, 5)
	_, err3 := conn.Do("ZADD", "{"+name+"}:timeout", int64(922337203685477), id)
	return errors.Join(err, err2, err3)
}

var lockKinds = map[string]func(*rlock.Client, string) *rlock.Lock{
	"plain": (*rlock.Client).NewLock, "spin": (*rlock.Client).NewSpinLock, "fair": (*rlock.Client).NewFairLock,
	"fenced": (*rlock.Client).NewFencedLock, "non-reentrant": (*rlock.Client).NewNonReentrantLock,
	"read":  func(c *rlock.Client, name string) *rlock.Lock { return c.NewReadWriteLock(name).ReadLock() },
	"write": func(c *rlock.Client, name string) *rlock.Lock { return c.NewReadWriteLock(name).WriteLock() },
}

func calledObjects() []calledObject {
	nothing := func(redis.Conn, string) error { return nil }
	multi := func(c *rlock.Client, name string) *rlock.MultiLock {
		return rlock.NewMultiLock(c.NewLock(name+"-1"), c.NewLock(name+"-2"))
	}
	all := []calledObject{
		{"client", func(_ *testing.T, c *rlock.Client, _ string) any { return c }, nothing},
		{"semaphore", func(_ *testing.T, c *rlock.Client, name string) any { return c.NewSemaphore(name) }, numberIs(5)},
		{"latch", func(_ *testing.T, c *rlock.Client, name string) any { return c.NewCountDownLatch(name) }, numberIs(2)},
		{"permits", func(_ *testing.T, c *rlock.Client, name string) any { return c.NewPermitSemaphore(name) }, permitsAre},
		{"taken permits", func(t *testing.T, c *rlock.Client, name string) any {
			p, err := c.NewPermitSemaphore(name).TryAcquire(t.Context(), 2, rlock.Lease(time.Hour))
			if err != nil {
				t.Fatal(err)
			}
			return p
		}, permitsAre},
		{"multi-lock", func(_ *testing.T, c *rlock.Client, name string) any { return multi(c, name) }, nothing},
		{"multi-hold", func(t *testing.T, c *rlock.Client, name string) any {
			h, err := multi(c, name).TryLock(t.Context(), rlock.Lease(time.Hour))
			if err != nil {
				t.Fatal(err)
			}
			return h
		}, nothing},
	}
	for name, kind := range lockKinds {
		all = append(all, calledObject{name + " lock", lockObject(kind), nothing}, calledObject{name + " hold", holdObject(kind), nothing})
	}
	return all
}

var (
	contexts = reflect.TypeFor[context.Context]()
	failures = reflect.TypeFor[error]()
)

// asksServer tells whether a method takes a context and may fail.
func asksServer(m reflect.Method) bool {
	t := m.Type
	return t.NumIn() > 1 && t.In(1) == contexts && t.NumOut() > 0 && t.Out(t.NumOut()-1) == failures
}

// methodCall is a call of one method, on an object that no other call uses.
type methodCall struct {
	what, method, name string
	value              reflect.Value
	client             *rlock.Client
	before             string // its keys, as keysOf describes them
}

// do makes the call.
func (m *methodCall) do(ctx context.Context) error {
	f := m.value.MethodByName(m.method)
	args := []reflect.Value{reflect.ValueOf(ctx)}
	for i := 1; i < f.Type().NumIn(); i++ {
		in := f.Type().In(i)
		switch {
		case i == f.Type().NumIn()-1 && f.Type().IsVariadic():
			if in.Elem().Kind() == reflect.String {
				args = append(args, reflect.ValueOf(onePermit))
			}
		case in == reflect.TypeFor[rlock.Owner]():
			args = append(args, reflect.ValueOf(m.client.NewOwner()))
		case in == reflect.TypeFor[time.Duration]():
			args = append(args, reflect.ValueOf(time.Hour))
		case in.Kind() == reflect.String:
			args = append(args, reflect.ValueOf(onePermit))
		case in.Kind() == reflect.Func:
			args = append(args, reflect.MakeFunc(in, func([]reflect.Value) []reflect.Value { return []reflect.Value{reflect.Zero(failures)} }))
		default: // how many
			args = append(args, reflect.ValueOf(1).Convert(in))
		}
	}
	results := f.Call(args)
	err, _ := results[len(results)-1].Interface().(error)
	return err
}

// endless are the methods that go on until ctx ends, as their comments say.
var endless = []string{"Lead"}

// everyMethod prepares the calls, and creates their objects on a server.
func everyMethod(t *testing.T, open func(*testing.T, ...rlock.Option) *rlock.Client, conn redis.Conn) []*methodCall {
	t.Helper()
	var calls []*methodCall
	for i, o := range calledObjects() {
		c := open(t, rlock.WithCommandTimeout(callTimeout))
		probe := fmt.Sprintf("o%d", i)
		if err := o.setUp(conn, probe); err != nil {
			t.Fatal(err)
		}
		typ := reflect.TypeOf(o.make(t, c, probe))
		for j := range typ.NumMethod() {
			m := typ.Method(j)
			if !asksServer(m) {
				continue
			}
			if m.Name == "LastToken" && o.of != "fenced lock" {
				continue // it sends nothing
			}
			own := c
			if m.Name == "Shutdown" {
				own = open(t, rlock.WithCommandTimeout(callTimeout))
			}
			name := fmt.Sprintf("o%d.%s", i, m.Name)
			// This loads the scripts, so that the call itself sends one command.
			if err := o.setUp(conn, name+"-warm"); err != nil {
				t.Fatal(err)
			}
			warm := &methodCall{method: m.Name, value: reflect.ValueOf(o.make(t, own, name+"-warm")), client: own}
			if !slices.Contains(endless, m.Name) && m.Name != "Shutdown" && !strings.HasPrefix(m.Name, "Await") {
				_ = warm.do(t.Context())
			}
			if err := o.setUp(conn, name); err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(m.Name, "Await") { // of an open latch: else it may wait for ever
				if _, err := conn.Do("DEL", name); err != nil {
					t.Fatal(err)
				}
			}
			calls = append(calls, &methodCall{o.of + "'s " + m.Name, m.Name, name, reflect.ValueOf(o.make(t, own, name)), own, ""})
		}
	}
	for _, m := range calls {
		m.before = keysOf(t, conn, m.name)
	}
	return calls
}

// permitEnd is when a permit's lease ends, in ms since 1970.
var permitEnd = regexp.MustCompile(`9\.46\d+e\+11`)

// keysOf describes an object's keys on the server, without latches, receipts and tokens.
func keysOf(t *testing.T, conn redis.Conn, name string) string {
	t.Helper()
	keys, err := redis.Strings(conn.Do("KEYS", "*"))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, key := range keys {
		tag := key
		if _, after, braced := strings.Cut(key, "{"); braced {
			tag, _, _ = strings.Cut(after, "}")
		}
		if tag != name && tag != name+"-1" && tag != name+"-2" || strings.Contains(key, "latch") || strings.Contains(key, "token") {
			continue
		}
		dump, err := redis.String(conn.Do("DUMP", key))
		if err != nil && !errors.Is(err, redis.ErrNil) {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprintf("%s %q", key, permitEnd.ReplaceAllStringFunc(dump, func(end string) string {
			ms, _ := strconv.ParseFloat(end, 64)
			return fmt.Sprint(math.Round(ms/1e5), "e5") // a connection's end asserts a lease by what is left
		})))
	}
	return strings.Join(all, "\n")
}

// trouble is a fault of a server, and how it ends.
type trouble struct {
	name   string
	loses  bool // commands that were sent
	begin  func(s *server)
	during func(s *server) // once all calls have begun
	end    func(s *server)
}

var troubles = []trouble{
	{name: "silent", loses: true, begin: func(s *server) { s.Pause() }, end: func(s *server) { s.Resume() }},
	{name: "dies after the send", loses: true, begin: func(s *server) { s.Pause() }, during: func(s *server) { s.Kill() }, end: func(s *server) { s.Restart() }},
	{name: "too few replicas",
		begin: func(s *server) { s.Change(func(m *simredis.Server) { m.MinReplicas = 1 }) },
		end:   func(s *server) { s.Change(func(m *simredis.Server) { m.MinReplicas = 0 }) }},
	{name: "no memory",
		begin: func(s *server) { s.Change(func(m *simredis.Server) { m.Full = true }) },
		end:   func(s *server) { s.Change(func(m *simredis.Server) { m.Full = false }) }},
	{name: "is a replica now", begin: func(s *server) { s.Demote() }, end: func(s *server) { s.Change(func(m *simredis.Server) { m.SlaveOf(nil) }) }},
	{name: "may not publish",
		begin: func(s *server) { s.Change(func(m *simredis.Server) { m.NoChannels = true }) },
		end:   func(s *server) { s.Change(func(m *simredis.Server) { m.NoChannels = false }) }},
	{name: "loads for two command timeouts", loses: true, // with its connections
		begin: func(s *server) { s.Kill(); s.Restart(); s.Change(func(m *simredis.Server) { m.Loading = true }) },
		during: func(s *server) {
			time.AfterFunc(2*callTimeout, func() { s.Change(func(m *simredis.Server) { m.Loading = false }) })
		},
		end: func(s *server) { s.Change(func(m *simredis.Server) { m.Loading = false }) }},
}

// masters start a server that clients find by each sort of URL, with nobody who could take its place.
var masters = map[string]func(w *simnet.World) (url string, master *simredis.Server){
	"redis": func(w *simnet.World) (string, *simredis.Server) {
		s := simredis.New(w, oneServer)
		return "redis://" + s.Addr, s
	},
	"redis+sentinel": func(w *simnet.World) (string, *simredis.Server) {
		set := simredis.NewSet(w, 0, 3)
		return set.URL(), set.Servers[0]
	},
	"redis+cluster": func(w *simnet.World) (string, *simredis.Server) {
		c := simredis.NewCluster(w, 1, 0)
		return c.URL(), c.Servers[0]
	},
	"redis+replicated": func(w *simnet.World) (string, *simredis.Server) {
		s := simredis.New(w, oneServer)
		return "redis+replicated://" + s.Addr, s
	},
}

// Each call ends within the bound in its doc comment, and its error agrees with the server's keys.
func TestEveryMethodKeepsItsWordInTrouble(t *testing.T) {
	for scheme, master := range masters {
		for _, tr := range troubles {
			for _, ctxEnds := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, %s, ctx ends: %t", scheme, tr.name, ctxEnds), func(t *testing.T) {
					t.Parallel()
					testbed.SimulateBy(t, master, func(p *testbed.Proxied, s *testbed.SimulatedServer) {
						time.Sleep(3 * time.Second) // the Sentinels have found the master
						p.LoadScripts()
						everyMethodIn(p.T, &server{SimulatedServer: s, rig: p}, tr, ctxEnds)
					})
				})
			}
		}
	}
}

func everyMethodIn(t *testing.T, s *server, tr trouble, ctxEnds bool) {
	conn := s.Dial(t)
	calls := everyMethod(t, func(t *testing.T, opts ...rlock.Option) *rlock.Client { return open(t, s, opts...) }, conn)
	ctx := context.Background()
	tr.begin(s)
	if ctxEnds {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, callTimeout/2)
		defer cancel()
	}
	type result struct {
		m    *methodCall
		err  error
		took time.Duration
	}
	results := make(chan result, len(calls))
	pending := map[*methodCall]bool{}
	var begun sync.WaitGroup
	for _, m := range calls {
		if !ctxEnds && slices.Contains(endless, m.method) {
			continue
		}
		pending[m] = true
		begun.Add(1)
		go func() {
			began := time.Now()
			begun.Done()
			err := m.do(ctx)
			results <- result{m, err, time.Since(began)}
		}()
	}
	begun.Wait()
	if tr.during != nil {
		time.Sleep(callTimeout / 4) // most are in the server's sockets by now
		tr.during(s)
	}
	errs := map[*methodCall]error{}
	never := time.After(10 * sendsFor)
	for len(pending) > 0 {
		select {
		case r := <-results:
			delete(pending, r.m)
			errs[r.m] = r.err
			most := callBound
			if b, ok := callBounds[r.m.method]; ok {
				most = b
			}
			if ctxEnds {
				most = callTimeout/2 + callBound
			}
			if r.took > most+latencies {
				t.Errorf("%s: ended after %v, at most %v are promised: %v", r.m.what, r.took, most, r.err)
			}
		case <-never:
			for m := range pending {
				t.Errorf("%s: it never ended", m.what)
			}
			return
		}
	}
	tr.end(s)
	time.Sleep(3 * time.Second) // in a cluster the server serves a while after its start
	conn = s.Dial(t)
	for _, m := range slices.SortedFunc(maps.Keys(errs), func(a, b *methodCall) int { return strings.Compare(a.what, b.what) }) {
		checkTruth(t, conn, m, errs[m], tr.loses)
	}
}

// saidDone are phrases in the error of a change that ran all the same, or may still run.
var saidDone = []string{"done, but", "released, but", "goes on in the background", "the key is left to expire"}

// checkTruth compares a call's error with the keys.
func checkTruth(t *testing.T, conn redis.Conn, m *methodCall, err error, loses bool) {
	t.Helper()
	same := func() bool { return keysOf(t, conn, m.name) == m.before }
	ran := err != nil && slices.ContainsFunc(saidDone, func(s string) bool { return strings.Contains(err.Error(), s) })
	switch {
	case err == nil:
		// An UnlockAs whose first send was lost can't know whether its owner held anything.
		unknown := m.method == "ForceUnlock" || m.method == "UnlockAs" && loses
		if slices.Contains(changesKeys, m.method) && same() && !unknown && !strings.HasPrefix(m.what, "client") {
			t.Errorf("%s: it said that it was done, and nothing is", m.what)
		}
	case errors.Is(err, rlock.ErrUncertain), ran, errors.Is(err, rlock.ErrNotHeld):
	default:
		// The client undoes in the background what it may have sent.
		for end := time.Now().Add(10 * callTimeout); !same(); time.Sleep(100 * time.Millisecond) {
			if time.Now().After(end) {
				t.Errorf("%s: it said %q, and something is left:\n%s\nbefore:\n%s", m.what, err, keysOf(t, conn, m.name), m.before)
				return
			}
		}
	}
}
