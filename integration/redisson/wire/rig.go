package wire

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/kit/faultproxy"
	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/testkit/monitor"
)

const patience = testbed.Patience

// rig is a server, or the servers of a place, with everything that watches them. One side at a time plays on it.
type rig struct {
	*testbed.Rig                          // for preparation and checks; not recorded
	server       *redisserver.LocalServer // nil in a place
	place        *Place                   // nil for one server
	taps         []*monitor.Stream        // one per server

	side    side
	proxies []*faultproxy.Proxy // the playing side's, one before each tapped server
	from    []int               // where the scenario begins in each proxy's record
	kind    javapeer.Kind       // of the scenario's locks
	kept    []string            // locks that the scenario waits to see renewed
	lease   time.Duration       // of the watchdog
	marks   int                 // markers published so far

	mu    sync.Mutex // guards heard
	heard [][2]string
}

func newRig(t *testing.T, server *redisserver.LocalServer) *rig {
	t.Helper()
	r := &rig{Rig: testbed.New(t, server), server: server, taps: []*monitor.Stream{monitor.Tap(t, server.Addr())}}
	r.subscribe()
	return r
}

// subscribe starts to hear every channel, and in a cluster also what is sent to the shard of the scenarios' lock.
func (r *rig) subscribe() {
	r.T.Helper()
	conn := redisserver.Dial(r.T, r.Rig.Server, redis.DialReadTimeout(0))
	subscriptions := [][]any{{"PSUBSCRIBE", "*"}}
	if r.place != nil && r.place.sharded {
		subscriptions = append(subscriptions, []any{"SSUBSCRIBE", channel(lockName)})
	}
	for _, s := range subscriptions {
		if _, err := conn.Do(s[0].(string), s[1:]...); err != nil {
			r.T.Fatal(err)
		}
	}
	var reader sync.WaitGroup
	reader.Go(func() {
		for {
			message, err := redis.Strings(conn.Receive())
			if err != nil {
				return // closed at the test's end; otherwise messages misses its marker
			}
			r.mu.Lock()
			switch {
			case message[0] == "pmessage":
				r.heard = append(r.heard, [2]string{message[2], message[3]})
			case message[0] == "smessage":
				r.heard = append(r.heard, [2]string{shardedMark + message[1], message[2]})
			}
			r.mu.Unlock()
		}
	})
	r.T.Cleanup(func() {
		conn.Close()
		reader.Wait()
	})
}

// shardedMark marks a message that was sent to a shard, not to all.
const shardedMark = "sharded "

// play begins a side's scenario through its proxies, with an empty keyspace, and with an empty script cache if wanted.
func (r *rig) play(who side, proxies []*faultproxy.Proxy, sc scenario) {
	r.T.Helper()
	r.everywhere("FLUSHALL")
	if sc.firstUse {
		r.everywhere("SCRIPT", "FLUSH")
	}
	r.messages()
	r.side, r.proxies, r.kind, r.lease = who, proxies, sc.kind, sc.lease()
	r.kept = nil
	r.from = nil
	for i, p := range proxies {
		r.taps[i].Mark()
		r.from = append(r.from, len(p.Record()))
	}
}

// record is the scenario's exchanges so far.
func (r *rig) record() (all []faultproxy.Exchange) {
	if r.place == nil {
		return r.proxies[0].Record()[r.from[0]:]
	}
	for i := range r.proxies {
		all = append(all, r.recordAt(i)...)
	}
	slices.SortStableFunc(all, func(a, b faultproxy.Exchange) int { return a.Sent.Compare(b.Sent) })
	return all
}

// recordAt returns the playing side's exchanges with one of the servers.
func (r *rig) recordAt(i int) []faultproxy.Exchange {
	all := r.proxies[i].Record()[r.from[i]:]
	if r.place == nil {
		return all
	}
	own := map[int]bool{}
	for _, c := range r.proxies[i].Log() {
		own[c.Number] = r.side.has(c)
	}
	return slices.DeleteFunc(all, func(e faultproxy.Exchange) bool { return !own[e.Conn] })
}

func (r *rig) await(what string, state func([]faultproxy.Exchange) bool) {
	r.T.Helper()
	if testbed.Within(testbed.Patience, func() bool { return state(r.record()) }) {
		return
	}
	for _, e := range r.record() {
		r.Logf("%q → %q", e.Cmd, e.Reply)
	}
	r.Fatalf("%v passed without: %s", patience, what)
}

// messages returns what the subscriber heard since the last call. A marker shows that it has heard everything.
func (r *rig) messages() [][2]string {
	r.T.Helper()
	r.marks++
	marker := fmt.Sprintf("%s%p-%d", markerPrefix, r, r.marks)
	r.Do("PUBLISH", marker, "")
	var got [][2]string
	r.Becomes("the subscriber hears the marker", func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		i := slices.IndexFunc(r.heard, func(m [2]string) bool { return m[0] == marker })
		if i >= 0 {
			got, r.heard = r.heard[:i], r.heard[i+1:]
		}
		return i >= 0
	})
	// Other rigs of a place publish their own markers, and Sentinels announce themselves.
	return slices.DeleteFunc(got, func(m [2]string) bool {
		return strings.HasPrefix(m[0], markerPrefix) || m[0] == "__sentinel__:hello"
	})
}

const markerPrefix = "wire-end-of-messages-"

const uuidLength = 36

// settle waits until nothing is pending: every command is answered, every latch of an unlock is deleted, every subscription
// has ended.
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
			case c.is("SUBSCRIBE", invalidations), c.is("UNSUBSCRIBE", invalidations):
			case c.latch() != "" && !failed(e):
				owed["latch "+c.latch()] = 1
			case c.is("DEL"):
				for _, key := range c.words[1:] {
					delete(owed, "latch "+key)
					// Redisson 3.52 deletes another key, and no latch.
					if i := strings.LastIndex(key, ":"); strings.HasPrefix(key, latchPrefix) && len(key)-i == len(":")+uuidLength {
						maps.DeleteFunc(owed, func(what string, _ int) bool { return strings.HasPrefix(what, "latch "+key[:i+1]) })
					}
				}
			case c.is("SUBSCRIBE"), c.is("SSUBSCRIBE"):
				for _, channel := range c.words[1:] {
					owed[c.shard()+"channel "+channel]++
				}
			case c.is("UNSUBSCRIBE"), c.is("SUNSUBSCRIBE"):
				for _, channel := range c.words[1:] {
					what := c.shard() + "channel " + channel
					if owed[what]--; owed[what] == 0 {
						delete(owed, what)
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
