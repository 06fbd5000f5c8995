package wire

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/faultproxy"
	"github.com/rlock-go/redisson/integration/javapeer"
	"github.com/rlock-go/redisson/integration/redisserver"
	"github.com/rlock-go/redisson/integration/testbed"
	"github.com/rlock-go/redisson/internal/monitor"
)

const patience = testbed.Patience

// rig is a server with everything that watches it. One side at a time plays on it.
type rig struct {
	*testbed.Rig // prepares and looks; not recorded
	server       *redisserver.LocalServer
	tap          *monitor.Stream

	proxy *faultproxy.Proxy // of the side that plays
	from  int               // of the proxy's record, where the scenario begins
	kind  javapeer.Kind     // of the scenario's locks
	kept  []string          // locks that the scenario waits to see renewed

	mu    sync.Mutex // guards heard
	heard [][2]string
}

func newRig(t *testing.T, server *redisserver.LocalServer) *rig {
	t.Helper()
	r := &rig{Rig: testbed.New(t, server), server: server}
	r.tap = monitor.Tap(t, r.server.Addr())
	r.subscribe()
	return r
}

// subscribe hears every message of every channel.
func (r *rig) subscribe() {
	r.T.Helper()
	conn := redisserver.Dial(r.T, r.server, redis.DialReadTimeout(0))
	sub := redis.PubSubConn{Conn: conn}
	if err := sub.PSubscribe("*"); err != nil {
		r.T.Fatal(err)
	}
	if _, ok := sub.Receive().(redis.Subscription); !ok {
		r.T.Fatal("not subscribed")
	}
	var reader sync.WaitGroup
	reader.Go(func() {
		for {
			switch m := sub.Receive().(type) {
			case redis.Message:
				r.mu.Lock()
				r.heard = append(r.heard, [2]string{m.Channel, string(m.Data)})
				r.mu.Unlock()
			case error:
				return // closed by the test's end; a message that is missed is missed by messages
			}
		}
	})
	r.T.Cleanup(func() {
		conn.Close()
		reader.Wait()
	})
}

// play has a side use the server through p, from an empty keyspace on, and from an empty script cache if wanted.
func (r *rig) play(p *faultproxy.Proxy, sc scenario) {
	r.T.Helper()
	r.Do("FLUSHALL")
	if sc.firstUse {
		r.Do("SCRIPT", "FLUSH")
	}
	r.messages()
	r.proxy, r.kind = p, sc.kind
	r.kept = nil
	r.tap.Mark()
	r.from = len(p.Record())
}

// record is the scenario's exchanges so far.
func (r *rig) record() []faultproxy.Exchange { return r.proxy.Record()[r.from:] }

// await waits until the record shows a state.
func (r *rig) await(what string, state func([]faultproxy.Exchange) bool) {
	r.T.Helper()
	if testbed.Eventually(func() bool { return state(r.record()) }) {
		return
	}
	for _, e := range r.record() {
		r.Logf("%q → %q", e.Cmd, e.Reply)
	}
	r.Fatalf("%v passed without: %s", patience, what)
}

// messages are what the subscriber heard since the last call. A marker ends them.
func (r *rig) messages() [][2]string {
	r.T.Helper()
	const marker = "wire-end-of-messages"
	r.Do("PUBLISH", marker, "")
	for end := time.Now().Add(patience); ; <-time.After(time.Millisecond) {
		r.mu.Lock()
		i := slices.IndexFunc(r.heard, func(m [2]string) bool { return m[0] == marker })
		if i >= 0 {
			got := r.heard[:i]
			r.heard = r.heard[i+1:]
			r.mu.Unlock()
			return got
		}
		r.mu.Unlock()
		if time.Now().After(end) {
			r.T.Fatal("the subscriber does not hear the marker")
		}
	}
}

const uuidLength = 36

// settle waits until nothing is owed any more: every command is answered, every latch of an unlock is deleted, every
// subscription is given up.
func (r *rig) settle() {
	r.T.Helper()
	r.await("a latch's DEL, an UNSUBSCRIBE or an answer", func(all []faultproxy.Exchange) bool {
		owed := map[string]int{}
		for _, e := range all {
			if e.Cmd == nil {
				continue
			}
			if e.Answered.IsZero() {
				return false
			}
			c := command(e.Cmd)
			switch {
			case c.latch() != "" && !failed(e):
				owed["latch "+c.latch()] = 1
			case c.is("DEL"):
				for _, key := range c.words[1:] {
					delete(owed, "latch "+key)
					// Redisson 3.52 names another key, and is done with that.
					if i := strings.LastIndex(key, ":"); strings.HasPrefix(key, latchPrefix) && len(key)-i == len(":")+uuidLength {
						maps.DeleteFunc(owed, func(what string, _ int) bool { return strings.HasPrefix(what, "latch "+key[:i+1]) })
					}
				}
			case c.is("SUBSCRIBE"):
				for _, channel := range c.words[1:] {
					owed["channel "+channel]++
				}
			case c.is("UNSUBSCRIBE"):
				for _, channel := range c.words[1:] {
					if owed["channel "+channel]--; owed["channel "+channel] == 0 {
						delete(owed, "channel "+channel)
					}
				}
			}
		}
		return len(owed) == 0
	})
}

func failed(e faultproxy.Exchange) bool {
	_, is := e.Reply.(faultproxy.Error)
	return is
}
