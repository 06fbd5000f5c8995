package luasrc

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
)

var fairQueue, fairTimes = codec.FairQueue(key), codec.FairTimes(key)

// fairRig is a server with a subscriber to the messages for every owner of the lock.
type fairRig struct {
	*rig
	heard redis.PubSubConn
}

func newFairRig(t *testing.T) *fairRig {
	t.Helper()
	r := &fairRig{newRig(t), redis.PubSubConn{}}
	r.heard.Conn = r.server.Dial(t)
	if err := r.heard.PSubscribe(channel + "*"); err != nil {
		t.Fatal(err)
	}
	r.heard.Receive()
	return r
}

// ask runs a call and returns its reply.
func (r *fairRig) ask(c Call) any {
	r.t.Helper()
	reply, err := r.conn.Do("EVALSHA", c.Args...)
	if err != nil {
		r.t.Fatalf("%s: %v", c.Script.Name, err)
	}
	return reply
}

// gets runs a call and checks its reply.
func (r *fairRig) gets(want string, c Call) {
	r.t.Helper()
	if got := show(r.ask(c)); got != want {
		r.t.Errorf("%s: reply %s, want %s", c.Script.Name, got, want)
	}
}

// taken runs an acquire, which must be answered with about that many ms.
func (r *fairRig) taken(most int64, c Call) {
	r.t.Helper()
	if got, ok := r.ask(c).(int64); !ok || got > most || got < most-5000 {
		r.t.Errorf("told %v, want %d", got, most)
	}
}

// queued checks the queue on the server.
func (r *fairRig) queued(want ...string) {
	r.t.Helper()
	got, err := redis.Strings(r.conn.Do("LRANGE", fairQueue, 0, -1))
	if err != nil || !slices.Equal(got, want) {
		r.t.Errorf("the queue is %q, %v; want %q", got, err, want)
	}
}

// keeps checks for how many ms, roughly, owners keep their places: owner and time in turn.
func (r *fairRig) keeps(want ...any) {
	r.t.Helper()
	now := r.now()
	scores, err := redis.StringMap(r.conn.Do("ZRANGE", fairTimes, 0, -1, "WITHSCORES"))
	if err != nil || len(scores) != len(want)/2 {
		r.t.Errorf("the times are %v, %v; want %v", scores, err, want)
	}
	for i := 0; i < len(want); i += 2 {
		till, err := strconv.ParseInt(scores[want[i].(string)], 10, 64)
		left, most := till-now, int64(want[i+1].(int))
		if err != nil || left > most || left < most-5000 {
			r.t.Errorf("%v keeps its place for %d ms, %v; want %d", want[i], left, err, most)
		}
	}
}

func (r *fairRig) now() int64 {
	t, err := redis.Int64s(r.conn.Do("TIME"))
	if err != nil {
		r.t.Fatal(err)
	}
	return t[0]*1000 + t[1]/1000
}

// place puts an owner at the end of the queue for that many ms.
func (r *fairRig) place(owner string, ms int64) {
	r.t.Helper()
	r.do("RPUSH", fairQueue, owner)
	r.do("ZADD", fairTimes, r.now()+ms, owner)
}

func (r *fairRig) hold(owner string, count int) {
	r.t.Helper()
	r.do("HSET", key, owner, count)
	r.do("PEXPIRE", key, 20_000)
}

// told checks which owners got a message since the last check.
func (r *fairRig) told(want ...string) {
	r.t.Helper()
	r.do("PUBLISH", channel+":", "marker")
	got := []string{}
	for {
		m, ok := r.heard.Receive().(redis.Message)
		if !ok {
			r.t.Fatal("the subscriber ended")
		}
		if string(m.Data) == "marker" {
			break
		}
		who, ok := strings.CutPrefix(m.Channel, channel+":")
		if !ok || string(m.Data) != "0" {
			r.t.Errorf("%q on %s", m.Data, m.Channel)
		}
		got = append(got, who)
	}
	if !slices.Equal(got, want) {
		r.t.Errorf("told were %q, want %q", got, want)
	}
}

// only checks that there are no other keys.
func (r *fairRig) only(keys ...string) {
	r.t.Helper()
	got, err := redis.Strings(r.conn.Do("KEYS", "*"))
	slices.Sort(got)
	slices.Sort(keys)
	if err != nil || !slices.Equal(got, keys) {
		r.t.Errorf("the keys are %q, %v; want %q", got, err, keys)
	}
}

func fairLock(o string, wait, once int) Call {
	return FairLock(nil, key, fairQueue, fairTimes, channel, o, lease, wait, once, Publish)
}

func fairUnlock(o string) Call {
	return FairUnlock(nil, key, fairQueue, fairTimes, latch, channel, o, lease, latchMs, Left{}, Publish)
}

func fairLeave(o string, wait int) Call {
	return FairLeave(key, fairQueue, fairTimes, channel, Publish, 1, func(int) (Arg, Arg) { return o, wait })
}

func fairForce() Call { return FairForce(key, fairQueue, fairTimes, channel, Publish) }
