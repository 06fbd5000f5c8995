package rlock

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/testkit/monitor"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// scriptRig is a server that can forbid commands to a worker's account. Where no call has to time out, the command
// timeout is longer than any stall of a busy machine.
type scriptRig struct {
	*testing.T
	server        *redistest.Server
	conn          redis.Conn
	worker, admin *Client
	cases         int
}

func newScriptRig(t *testing.T, timeout time.Duration) *scriptRig {
	t.Helper()
	s := redistest.Start(t)
	r := &scriptRig{T: t, server: s, conn: s.Dial(t), admin: open(t, s)}
	r.do("ACL", "SETUSER", "worker", "on", ">pw", "~*", "&*", "+@all")
	c, err := Open(t.Context(), strings.Replace(s.URL(), "redis://", "redis://worker:pw@", 1), WithCommandTimeout(timeout))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	r.worker = c
	for _, script := range luasrc.Scripts() {
		r.do("SCRIPT", "LOAD", script.Source)
	}
	return r
}

func (r *scriptRig) do(name string, args ...any) any {
	r.Helper()
	reply, err := r.conn.Do(name, args...)
	if err != nil {
		r.Fatalf("%s %v: %v", name, args, err)
	}
	return reply
}

func (r *scriptRig) lock(l *Lock, opts ...AcquireOption) *Hold {
	r.Helper()
	h, err := l.TryLock(r.Context(), opts...)
	if err != nil {
		r.Fatal(err)
	}
	return h
}

// place puts a waiter into a fair lock's queue.
func (r *scriptRig) place(name string) {
	const owner = "7d444840-9dc0-41d1-b245-5ffdce74fad2:1"
	r.do("RPUSH", "redisson_lock_queue:{"+name+"}", owner)
	r.do("ZADD", "redisson_lock_timeout:{"+name+"}", 4e15, owner)
}

// permits takes n of 5 permits. One more has expired.
func (r *scriptRig) permits(name string, n int) *Permits {
	r.Helper()
	r.do("SET", name, 5)
	p, err := r.worker.NewPermitSemaphore(name).TryAcquire(r.Context(), n)
	if err != nil {
		r.Fatal(err)
	}
	r.do("ZADD", "{"+name+"}:timeout", 1, "0123456789abcdef")
	return p
}

// next returns an unused name.
func (r *scriptRig) next() string {
	r.cases++
	return fmt.Sprintf("case<%d>", r.cases)
}

var anOwner = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}:-?\d+`)

// has describes the server's keys of a name: their values, and whether they expire. All owners look alike in it.
func (r *scriptRig) has(name string) string {
	r.Helper()
	keys, err := redis.Strings(r.do("KEYS", "*"+name+"*"), nil)
	if err != nil {
		r.Fatal(err)
	}
	var all []string
	for _, key := range keys {
		if strings.HasPrefix(key, "redisson_unlock_latch") || strings.HasPrefix(key, "redisson_lock_token") {
			continue // a latch is this library's, and gaps in the tokens are normal
		}
		var value any
		switch r.do("TYPE", key) {
		case "string":
			value, _ = redis.String(r.do("GET", key), nil)
		case "hash":
			fields, _ := redis.StringMap(r.do("HGETALL", key), nil)
			var list []string
			for f, v := range fields {
				list = append(list, f+"="+v)
			}
			slices.Sort(list)
			value = list
		case "list":
			value = r.do("LLEN", key)
		case "zset":
			value = r.do("ZCARD", key)
		}
		ends := r.do("PTTL", key).(int64) >= 0
		line := fmt.Sprint(key, " ", value, " ends ", ends)
		all = append(all, anOwner.ReplaceAllString(strings.ReplaceAll(line, name, "N"), "OWNER"))
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// says checks that what a call reports to have done agrees with its error.
func says(did bool, err error) error {
	if did != (err == nil || isUntold(err)) {
		return fmt.Errorf("its error says something else than %v", did)
	}
	return err
}

func isUntold(err error) bool { return errors.Is(err, ErrUnannounced) && !errors.Is(err, ErrRefused) }

// judge compares a call's error with the server's keys: they must be as before the call, or as after it is done. first
// says that the refusal is known to come before the first write.
func (r *scriptRig) judge(what, name string, err error, before, done string, first bool) {
	r.Helper()
	var want string
	switch {
	case err == nil, isUntold(err):
		want = done
	case errors.Is(err, ErrUncertain) && (!first || strings.Contains(err.Error(), "answer")):
		return // its last attempt was in flight when its time ended
	case errors.Is(err, ErrUncertain), !errors.Is(err, ErrRefused) && !errors.Is(err, ErrUnavailable):
		r.Errorf("%s: %v", what, err)
		return
	default:
		want = before
	}
	// What an acquire took is given back in the background.
	redistest.Becomes(r, fmt.Sprintf("%s: %v; the server has\n%s", what, err, want), func() bool { return r.has(name) == want },
		func() string { return "instead\n" + r.has(name) })
}

// undisturbed runs a call that is not refused. It returns the commands inside its scripts, the scripts themselves, and
// the keys before and after it.
func (r *scriptRig) undisturbed(c scripted, tap *monitor.Stream) (inside, scripts []string, before, done string) {
	r.Helper()
	name := r.next()
	call := c.ready(r, name)
	before = r.has(name)
	tap.Mark()
	if err := call(r.Context()); err != nil {
		r.Fatalf("%s: %v", c.name, err)
	}
	for _, l := range tap.Mark() {
		switch {
		case l.Lua() && !slices.Contains(inside, strings.ToLower(l.Args[0])):
			inside = append(inside, strings.ToLower(l.Args[0]))
		case l.Is("EVALSHA"):
			scripts = append(scripts, l.Args[1])
		}
	}
	return inside, scripts, before, r.has(name)
}

// A change that ran is never reported as refused, whichever command of its script is forbidden to its account.
func TestWhatACallSaysIsSoThoughItsScriptIsRefusedACommand(t *testing.T) {
	t.Parallel()
	r := newScriptRig(t, 10*soon)
	tap := monitor.Tap(t, r.server.URL())
	ran := map[string]bool{}
	told := 0
	for _, c := range scriptCalls {
		inside, scripts, before, done := r.undisturbed(c, tap)
		for _, sha := range scripts {
			ran[sha] = true
		}
		for _, command := range inside {
			name := r.next()
			call := c.ready(r, name)
			r.do("ACL", "SETUSER", "worker", "-"+command)
			err := call(t.Context())
			what := c.name + " without " + command
			if command == "publish" {
				told++
				if err != nil && !isUntold(err) {
					t.Errorf("%s: %v", what, err)
				}
			}
			r.judge(what, name, err, before, done, false)
			r.do("ACL", "SETUSER", "worker", "+"+command)
		}
	}
	if told < 15 {
		t.Errorf("%d calls announce", told)
	}
	for _, s := range luasrc.Scripts() {
		// These are for slots that move, waiters that leave, undos and lost replies, or only read or renew.
		rest := []string{"force_unlock_alone", "fair_leave", "semaphore_undo", "info", "rw_info", "permit_count", "read_renew", "permit_renew"}
		if !ran[s.SHA1] && !slices.Contains(rest, s.Name) && !strings.HasSuffix(s.Name, "_again") {
			t.Errorf("no call runs %s", s.Name)
		}
	}
}

// The same with a channel that the account may not publish to, which is the default for a new account of Redis 7.
func TestWhatACallSaysIsSoThoughItMayNotPublish(t *testing.T) {
	t.Parallel()
	r := newScriptRig(t, 10*soon)
	tap := monitor.Tap(t, r.server.URL())
	for _, c := range scriptCalls {
		_, _, before, done := r.undisturbed(c, tap)
		name := r.next()
		call := c.ready(r, name)
		r.do("ACL", "SETUSER", "worker", "resetchannels")
		err := call(t.Context())
		if err != nil && !isUntold(err) {
			t.Errorf("%s: %v", c.name, err)
		}
		r.judge(c.name, name, err, before, done, true)
		r.do("ACL", "SETUSER", "worker", "allchannels")
	}
}

// On a server that takes no writes for now no call changes anything, and each says so.
func TestWhatACallSaysIsSoWhileTheServerTakesNoWrites(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "some timeouts pass")
	var beside redistest.Parts
	defer beside.Wait()
	for _, setting := range [][]any{{"maxmemory", 1, 0}, {"min-replicas-to-write", 1, 0}} {
		beside.Run(t, setting[0].(string), func(t *testing.T) {
			r := newScriptRig(t, changeTimeout)
			tap := monitor.Tap(t, r.server.URL())
			type one struct {
				scripted
				name, before, done string
				call               func(context.Context) error
				err                error
			}
			var all []*one
			for _, c := range scriptCalls {
				_, _, before, done := r.undisturbed(c, tap)
				name := r.next()
				all = append(all, &one{scripted: c, name: name, before: before, done: done, call: c.ready(r, name)})
			}
			r.do("CONFIG", "SET", setting[0], setting[1])
			var wg sync.WaitGroup
			for _, o := range all {
				wg.Go(func() { o.err = o.call(t.Context()) })
			}
			wg.Wait()
			refused := 0
			for _, o := range all {
				if o.err != nil {
					refused++
				}
				r.judge(o.scripted.name, o.name, o.err, o.before, o.done, true)
			}
			if refused < len(all)/3 {
				t.Errorf("%d of %d were refused", refused, len(all))
			}
			r.worker.Close() // ends what goes on in the background
			r.do("CONFIG", "SET", setting[0], setting[2])
		})
	}
}

// With each of its keys of another type in turn, no call changes anything, and each says so.
func TestWhatACallSaysIsSoOfKeysOfAnotherType(t *testing.T) {
	t.Parallel()
	r := newScriptRig(t, 10*soon)
	tap := monitor.Tap(t, r.server.URL())
	for _, c := range scriptCalls {
		first := r.next()
		call := c.ready(r, first)
		tap.Mark()
		if err := call(t.Context()); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		keys := map[string]bool{}
		for _, one := range monitor.Calls(tap.Mark()) {
			for _, key := range one.Keys {
				if strings.Contains(key, first) && !strings.HasPrefix(key, "redisson_unlock_latch") {
					keys[key] = true
				}
			}
		}
		for key := range keys {
			name := r.next()
			call := c.ready(r, name)
			key = strings.ReplaceAll(key, first, name)
			r.do("DEL", key)
			if strings.HasPrefix(key, "redisson_lock_queue") { // a list
				r.do("SET", key, "text")
			} else {
				r.do("RPUSH", key, "text")
			}
			before := r.has(name)
			err := call(t.Context())
			if err == nil || errors.Is(err, ErrNotHeld) {
				continue // it does not need the key
			}
			r.judge(c.name+" with another "+key, name, err, before, "", true)
		}
	}
}
