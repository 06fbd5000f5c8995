package rlock_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/redistest"
	"github.com/rlock-go/redisson/internal/stalls"
	"github.com/rlock-go/redisson/rlock"
)

// The test in this file calls every public method that takes a context and may fail, in every kind of trouble. It
// finds the methods by reflection, so a new method is included.

const (
	callTimeout = time.Second                        // the command timeout, T of the comments
	sendsFor    = 4*callTimeout + time.Second        // for how long a release or a change is retried
	callSlack   = callTimeout                        // allowed in addition to the machine's stalls
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

func lockOf(kind func(*rlock.Client, string) *rlock.Lock) func(*testing.T, *rlock.Client, string) any {
	return func(_ *testing.T, c *rlock.Client, name string) any { return kind(c, name) }
}

func holdOf(kind func(*rlock.Client, string) *rlock.Lock) func(*testing.T, *rlock.Client, string) any {
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
	_, err3 := conn.Do("ZADD", "{"+name+"}:timeout", 922337203685477, id)
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
		all = append(all, calledObject{name + " lock", lockOf(kind), nothing}, calledObject{name + " hold", holdOf(kind), nothing})
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
func everyMethod(t *testing.T, url string, conn redis.Conn) []*methodCall {
	t.Helper()
	var calls []*methodCall
	for i, o := range calledObjects() {
		c := openWith(t, url, rlock.WithCommandTimeout(callTimeout))
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
				own = openWith(t, url, rlock.WithCommandTimeout(callTimeout))
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

// keysOf describes an object's keys on the server, without latches, receipts and tokens.
func keysOf(t *testing.T, conn redis.Conn, name string) string {
	t.Helper()
	var all []string
	for _, pattern := range []string{name, name + "-1", name + "-2", "*{" + name + "}*", "*{" + name + "-[12]}*"} {
		keys, err := redis.Strings(conn.Do("KEYS", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range keys {
			if strings.Contains(key, "latch") || strings.Contains(key, "token") {
				continue
			}
			dump, err := redis.String(conn.Do("DUMP", key))
			if err != nil && !errors.Is(err, redis.ErrNil) {
				t.Fatal(err)
			}
			all = append(all, fmt.Sprintf("%s %q", key, dump))
		}
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), "\n")
}

// trouble is a fault of a server, and how it ends.
type trouble struct {
	name   string
	args   []string // for the server's start
	user   string   // the user part of the clients' URL; may be empty
	begin  func(t *testing.T, s *redistest.Server)
	during func(s *redistest.Server) // once all calls have begun
	end    func(t *testing.T, s *redistest.Server)
}

func says(t *testing.T, s *redistest.Server, args ...any) {
	t.Helper()
	conn, err := redis.Dial("tcp", s.Addr())
	if err == nil {
		defer conn.Close()
		_, err = conn.Do(args[0].(string), args[1:]...)
	}
	if err != nil {
		t.Fatal(err)
	}
}

var persistent = []string{"--appendonly", "yes", "--appendfsync", "always"}

var troubles = []trouble{
	{name: "silent", args: persistent,
		begin: func(_ *testing.T, s *redistest.Server) { s.Pause() },
		end:   func(_ *testing.T, s *redistest.Server) { s.Resume() }},
	{name: "dies after the send", args: persistent,
		begin:  func(_ *testing.T, s *redistest.Server) { s.Pause() },
		during: func(s *redistest.Server) { s.Kill() },
		end:    func(_ *testing.T, s *redistest.Server) { s.Restart() }},
	{name: "too few replicas",
		begin: func(t *testing.T, s *redistest.Server) { says(t, s, "CONFIG", "SET", "min-replicas-to-write", 1) },
		end:   func(t *testing.T, s *redistest.Server) { says(t, s, "CONFIG", "SET", "min-replicas-to-write", 0) }},
	{name: "no memory",
		begin: func(t *testing.T, s *redistest.Server) { says(t, s, "CONFIG", "SET", "maxmemory", 1) },
		end:   func(t *testing.T, s *redistest.Server) { says(t, s, "CONFIG", "SET", "maxmemory", 0) }},
	{name: "is a replica now",
		begin: func(t *testing.T, s *redistest.Server) { says(t, s, "REPLICAOF", "127.0.0.1", 1) },
		end:   func(t *testing.T, s *redistest.Server) { says(t, s, "REPLICAOF", "NO", "ONE") }},
	{name: "may not publish", user: "quiet:word@",
		begin: func(t *testing.T, s *redistest.Server) { says(t, s, "ACL", "SETUSER", "quiet", "resetchannels") },
		end:   func(t *testing.T, s *redistest.Server) {}},
	{name: "loads for two command timeouts", args: append([]string{"--key-load-delay", "2000"}, persistent...),
		begin: func(t *testing.T, s *redistest.Server) {
			says(t, s, "EVAL", "for i = 1, 300 do redis.call('SET', 'filler' .. i, i) end", 0)
			s.Kill()
		},
		during: func(s *redistest.Server) { s.Restart() },
		end:    func(*testing.T, *redistest.Server) {}},
}

// Each call ends within the bound in its doc comment, and its error agrees with the server's keys.
func TestEveryMethodKeepsItsWordInTrouble(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "calls run into their timeouts")
	var beside redistest.Parts
	defer beside.Wait()
	for _, tr := range troubles {
		for _, ctxEnds := range []bool{false, true} {
			beside.Run(t, fmt.Sprintf("%s, ctx ends: %t", tr.name, ctxEnds), func(t *testing.T) {
				everyMethodIn(t, tr, ctxEnds)
			})
		}
	}
}

func everyMethodIn(t *testing.T, tr trouble, ctxEnds bool) {
	s := redistest.Start(t, tr.args...)
	conn := s.Dial(t)
	if _, err := conn.Do("ACL", "SETUSER", "quiet", "on", ">word", "~*", "+@all", "&*"); err != nil {
		t.Fatal(err)
	}
	calls := everyMethod(t, strings.Replace(s.URL(), "://", "://"+tr.user, 1), conn)
	ctx := context.Background()
	tr.begin(t, s)
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
	began := time.Now()
	open := map[*methodCall]bool{}
	var begun sync.WaitGroup
	for _, m := range calls {
		if !ctxEnds && slices.Contains(endless, m.method) {
			continue
		}
		open[m] = true
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
	for len(open) > 0 {
		select {
		case r := <-results:
			delete(open, r.m)
			errs[r.m] = r.err
			most := callBound
			if b, ok := callBounds[r.m.method]; ok {
				most = b
			}
			if ctxEnds {
				most = callTimeout/2 + callBound
			}
			if r.took > most+callSlack+stalls.Since(began) {
				t.Errorf("%s: ended after %v, at most %v are promised: %v", r.m.what, r.took, most, r.err)
			}
		case <-never:
			for m := range open {
				t.Errorf("%s: it never ended", m.what)
			}
			return
		}
	}
	tr.end(t, s)
	conn = s.Dial(t)
	for _, m := range slices.SortedFunc(maps.Keys(errs), func(a, b *methodCall) int { return strings.Compare(a.what, b.what) }) {
		checkTruth(t, conn, m, errs[m])
	}
}

// saidDone are phrases in the error of a change that ran all the same, or may still run.
var saidDone = []string{"done, but", "released, but", "goes on in the background", "the key is left to expire"}

// checkTruth compares a call's error with the keys.
func checkTruth(t *testing.T, conn redis.Conn, m *methodCall, err error) {
	t.Helper()
	same := func() bool { return keysOf(t, conn, m.name) == m.before }
	ran := err != nil && slices.ContainsFunc(saidDone, func(s string) bool { return strings.Contains(err.Error(), s) })
	switch {
	case err == nil:
		if slices.Contains(changesKeys, m.method) && same() && m.method != "ForceUnlock" && !strings.HasPrefix(m.what, "client") {
			t.Errorf("%s: it said that it was done, and nothing is", m.what)
		}
	case errors.Is(err, rlock.ErrUncertain), ran, errors.Is(err, rlock.ErrNotHeld):
	default:
		// The client undoes in the background what it may have sent.
		for end := time.Now().Add(10 * callTimeout); !same(); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Errorf("%s: it said %q, and something is left:\n%s\nbefore:\n%s", m.what, err, keysOf(t, conn, m.name), m.before)
				return
			}
		}
	}
}
