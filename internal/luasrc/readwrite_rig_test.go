package luasrc

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/testkit/monitor"
)

// A read-write lock's state is written as its mode, its TTL in s ("-": none) and each owner's holds: "a 5,0" is two
// reads of owner a, whose keys live 5 s and not at all, "aW 2" two writes, "x=7" a foreign field. "" is no key.

var rwOwners = map[string]string{"a": owner, "b": other, "c": "550e8400-e29b-41d4-a716-446655440000:-7"}

func rwHold(of string, n int) string {
	return fmt.Sprintf("%s:%s:rwlock_timeout:%d", codec.ReadHolds(key), rwOwners[of], n)
}

var rwChannel = codec.ReadWriteChannel(key)

// rwRig is a rig that listens to the lock's channel.
func rwRig(t *testing.T) *rig {
	r := newRig(t)
	r.monitor = monitor.Tap(t, r.server.URL())
	if err := r.sub.Subscribe(rwChannel); err != nil {
		t.Fatal(err)
	}
	r.sub.Receive()
	return r
}

// give sets a state on the server.
func (r *rig) give(state string) {
	r.t.Helper()
	r.do("FLUSHALL")
	if state == "" {
		return
	}
	// All ends count from one moment, as if one script had set them.
	now, err := redis.Int64s(r.conn.Do("TIME"))
	if err != nil {
		r.t.Fatal(err)
	}
	ends := func(seconds string) int64 {
		n, _ := strconv.ParseFloat(seconds, 64)
		return now[0]*1000 + now[1]/1000 + int64(n*1000)
	}
	parts := strings.Split(state, " | ")
	mode, ttl, _ := strings.Cut(parts[0], " ")
	r.do("HSET", key, "mode", mode)
	for _, part := range parts[1:] {
		if field, value, foreign := strings.Cut(part, "="); foreign {
			r.do("HSET", key, field, value)
			continue
		}
		of, what, _ := strings.Cut(part, " ")
		if of, writes := strings.CutSuffix(of, "W"); writes {
			r.do("HSET", key, rwOwners[of]+":write", what)
			continue
		}
		holds := strings.Split(what, ",")
		r.do("HSET", key, rwOwners[of], len(holds))
		for i, seconds := range holds {
			if seconds != "0" {
				r.do("SET", rwHold(of, i+1), 1, "PXAT", ends(seconds))
			}
		}
	}
	if ttl != "-" {
		r.do("PEXPIREAT", key, ends(ttl))
	}
}

// state reads the state, its parts in order. A key that has no place in it comes last.
func (r *rig) state() string {
	r.t.Helper()
	seconds := func(key string) string {
		ms := r.do("PTTL", key).(int64)
		if ms < 0 {
			return map[int64]string{-1: "-", -2: "0"}[ms]
		}
		return strconv.FormatInt((ms+999)/1000, 10)
	}
	fields, err := redis.StringMap(r.conn.Do("HGETALL", key))
	if err != nil {
		r.t.Fatal(err)
	}
	var parts []string
	left, _ := redis.Strings(r.conn.Do("KEYS", "*"))
	for of, name := range rwOwners {
		if n := fields[name+":write"]; n != "" {
			parts = append(parts, of+"W "+n)
		}
		n, _ := strconv.Atoi(fields[name])
		var holds []string
		for i := range n {
			holds = append(holds, seconds(rwHold(of, i+1)))
			left = slices.DeleteFunc(left, func(k string) bool { return k == rwHold(of, i+1) })
		}
		if n > 0 {
			parts = append(parts, of+" "+strings.Join(holds, ","))
		}
		delete(fields, name)
		delete(fields, name+":write")
	}
	mode, there := fields["mode"]
	delete(fields, "mode")
	for field, value := range fields {
		parts = append(parts, field+"="+value)
	}
	slices.Sort(parts)
	if there || len(parts) > 0 {
		parts = append([]string{mode + " " + seconds(key)}, parts...)
	}
	left = slices.DeleteFunc(left, func(k string) bool { return k == key || k == latch })
	return strings.Join(append(parts, left...), " | ")
}

// heard returns the messages on the lock's channel since the last call.
func (r *rig) heard() (all string) {
	r.t.Helper()
	r.do("PUBLISH", rwChannel, "marker")
	for {
		switch m := r.sub.Receive().(type) {
		case redis.Message:
			if string(m.Data) == "marker" {
				return all
			}
			all += string(m.Data)
		default:
			r.t.Fatalf("subscriber: %v", m)
		}
	}
}

// rwRow is a call in a state: its reply, the state after it, and its messages.
type rwRow struct {
	call          Call
	before, reply string
	after, heard  string
}

const unchanged = "unchanged"

// rowTime is how long a row may take, as remaining leases are rounded up to seconds.
const rowTime = 900 * time.Millisecond

func rwRows(t *testing.T, rows []rwRow) {
	t.Helper()
	t.Parallel()
	r := rwRig(t)
	for _, row := range rows {
		began := time.Now()
		wrong := r.wrong(row)
		// The server may have paused between two readings of the time in a script, or the machine for long.
		for tries := 0; len(wrong) > 0 && (tries == 0 || time.Since(began) > rowTime && tries < 50); tries++ {
			r.heard()
			began = time.Now()
			wrong = r.wrong(row)
		}
		for _, w := range wrong {
			t.Errorf("%s of %q: %s", row.call.Script.Name, row.before, w)
		}
	}
}

// wrong makes the call of a row and returns the differences.
func (r *rig) wrong(row rwRow) (wrong []string) {
	r.t.Helper()
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	r.give(row.before)
	if row.after == unchanged {
		row.after = r.state()
	}
	reply, err := r.conn.Do("EVALSHA", row.call.Args...)
	got := show(reply)
	if ms, ok := reply.(int64); ok && ms > 1 {
		got = fmt.Sprintf("%d s", (ms+999)/1000)
	}
	if err != nil || got != row.reply {
		say("reply %s, %v; want %s", got, err, row.reply)
	}
	if got := r.state(); got != row.after {
		say("left %q, want %q", got, row.after)
	}
	if got := r.heard(); got != row.heard {
		say("announced %q, want %q", got, row.heard)
	}
	unlocks := slices.Contains(row.call.Args, any(latch))
	kept, _ := redis.String(r.conn.Do("GET", latch))
	if want := strings.TrimPrefix(row.reply, "int "); unlocks && row.reply != "<nil>" && kept != want || row.reply == "<nil>" && kept != "" {
		say("the latch has %q after the reply %s", kept, row.reply)
	}
	if !unlocks || reply == nil {
		return wrong
	}
	// The repetition finds the latch, whatever the lock's state.
	before := r.state()
	if again := show(r.do("EVALSHA", row.call.Args...)); again != got || r.state() != before || r.heard() != "" {
		say("repeated, it replies %s and leaves %q", again, r.state())
	}
	return wrong
}
