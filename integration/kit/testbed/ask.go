package testbed

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/kit/commandstats"
	"github.com/rlock-go/redisson/internal/luasrc"
)

// Do sends a command that must succeed.
func Do(t testing.TB, c redis.Conn, command string, args ...any) any {
	t.Helper()
	reply, err := c.Do(command, args...)
	if err != nil {
		t.Fatalf("%s %.200q: %v", command, args, err)
	}
	return reply
}

// LoadScripts loads the library's scripts, so that no test sees NOSCRIPT and the retry after it.
func LoadScripts(t testing.TB, c redis.Conn) {
	t.Helper()
	for _, s := range luasrc.Scripts() {
		Do(t, c, "SCRIPT", "LOAD", s.Source)
	}
}

// Clients are a server's connections as CLIENT LIST shows them, except c and those of replication.
func Clients(t testing.TB, c redis.Conn) (lines []string) {
	t.Helper()
	own := fmt.Sprintf("id=%d ", Do(t, c, "CLIENT", "ID"))
	for _, kind := range []string{"normal", "pubsub"} {
		list, err := redis.String(Do(t, c, "CLIENT", "LIST", "TYPE", kind), nil)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(list) {
			if !strings.HasPrefix(line, own) {
				lines = append(lines, strings.TrimSpace(line))
			}
		}
	}
	return lines
}

// Do sends a command on the rig's connection.
func (r *Rig) Do(command string, args ...any) any {
	r.Helper()
	return Do(r.T, r.Conn, command, args...)
}

// as converts a reply by one of redigo's functions; a nil reply is no error.
func as[T any](r *Rig, read func(any, error) (T, error), command string, args ...any) T {
	r.Helper()
	v, err := read(r.Do(command, args...), nil)
	if err != nil && !errors.Is(err, redis.ErrNil) {
		r.Fatalf("%s %.200q: %v", command, args, err)
	}
	return v
}

// Number is an integer reply, or a string reply that is an integer; nil is 0.
func (r *Rig) Number(command string, args ...any) int {
	r.Helper()
	return as(r, redis.Int, command, args...)
}

// Text is a string reply; nil is empty.
func (r *Rig) Text(command string, args ...any) string {
	r.Helper()
	return as(r, redis.String, command, args...)
}

// Strings is a reply of several strings.
func (r *Rig) Strings(command string, args ...any) []string {
	r.Helper()
	return as(r, redis.Strings, command, args...)
}

// LoadScripts loads the library's scripts, so that no test sees NOSCRIPT and the retry after it.
func (r *Rig) LoadScripts() {
	r.Helper()
	LoadScripts(r.T, r.Conn)
}

// Info is the number behind a label in a section of INFO.
func (r *Rig) Info(section, label string) int {
	r.Helper()
	_, rest, found := strings.Cut(r.Text("INFO", section), "\n"+label+":")
	var n int
	if _, err := fmt.Sscan(rest, &n); err != nil || !found {
		r.Fatalf("INFO %s has no %s: %v", section, label, err)
	}
	return n
}

// Calls counts the calls of each command, by its name in upper case, calls from inside scripts included.
func (r *Rig) Calls() map[string]int {
	r.Helper()
	counts, err := commandstats.Read(r.Conn)
	if err != nil {
		r.Fatal(err)
	}
	calls := map[string]int{}
	for kind, n := range counts {
		calls[strings.ToUpper(kind)] = int(n)
	}
	return calls
}

// Connections is how many connections the server has accepted since its start.
func (r *Rig) Connections() int {
	r.Helper()
	return r.Info("stats", "total_connections_received")
}

// PTTL is the rest of a key's TTL: -1 ms if it has none, -2 ms if there is no such key.
func (r *Rig) PTTL(key string) time.Duration {
	r.Helper()
	return time.Duration(r.Number("PTTL", key)) * time.Millisecond
}

// Free reports whether a key does not exist.
func (r *Rig) Free(key string) bool {
	r.Helper()
	return r.Number("EXISTS", key) == 0
}

// Channels are those with a subscriber, except the one on which a server announces changed keys.
func (r *Rig) Channels() []string {
	r.Helper()
	return slices.DeleteFunc(r.Strings("PUBSUB", "CHANNELS"), func(c string) bool { return c == "__redis__:invalidate" })
}

// Latches are the keys in which unlocks keep their results.
func (r *Rig) Latches() []string {
	r.Helper()
	return slices.DeleteFunc(r.Strings("KEYS", "redisson_unlock_latch:*"), func(key string) bool {
		return strings.HasSuffix(key, ":begun") // not a result: it marks for a while that a semaphore was set
	})
}

// Clients counts the server's connections except the rig's own.
func (r *Rig) Clients() int {
	r.Helper()
	return len(Clients(r.T, r.Conn))
}

// Channel is where a lock's unlocks are announced. It is spelled out, since the library's own spelling is under test.
func Channel(name string) string { return "redisson_lock__channel:" + braced(name) }

// ReadWriteChannel is the same for a read-write lock.
func ReadWriteChannel(name string) string { return "redisson_rwlock:" + braced(name) }

func braced(name string) string {
	if strings.Contains(name, "{") {
		return name
	}
	return "{" + name + "}"
}

// Subscribed counts the subscribers for a lock: one per client, or one per waiting owner if each has its own channel.
func (r *Rig) Subscribed(name string) int {
	r.Helper()
	return Subscribed(r.T, r.Conn, name)
}

// Subscribed is Rig.Subscribed for a connection.
func Subscribed(t testing.TB, c redis.Conn, name string) (n int) {
	t.Helper()
	channels, err := redis.Strings(Do(t, c, "PUBSUB", "CHANNELS", Channel(name)+":*"), nil)
	if err != nil {
		t.Fatal(err)
	}
	args := redis.Args{"NUMSUB", Channel(name), ReadWriteChannel(name)}.AddFlat(channels)
	reply, err := redis.Values(Do(t, c, "PUBSUB", args...), nil)
	if err != nil {
		t.Fatalf("PUBSUB NUMSUB: %v", err)
	}
	for i := 1; i < len(reply); i += 2 {
		some, err := redis.Int(reply[i], nil)
		if err != nil {
			t.Fatal(err)
		}
		n += some
	}
	return n
}
