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

// LoadScripts keeps NOSCRIPT, and the second try after it, out of a test.
func LoadScripts(t testing.TB, c redis.Conn) {
	t.Helper()
	for _, s := range luasrc.Scripts() {
		Do(t, c, "SCRIPT", "LOAD", s.Source)
	}
}

// Clients are a server's connections but c, and but those of replication, as CLIENT LIST shows them.
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

// as reads a reply by one of redigo's functions, to which nil is no error.
func as[T any](r *Rig, read func(any, error) (T, error), command string, args ...any) T {
	r.Helper()
	v, err := read(r.Do(command, args...), nil)
	if err != nil && !errors.Is(err, redis.ErrNil) {
		r.Fatalf("%s %.200q: %v", command, args, err)
	}
	return v
}

// Number is an integer reply, or a string that is one; nil is 0.
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

// LoadScripts keeps NOSCRIPT, and the second try after it, out of a test.
func (r *Rig) LoadScripts() {
	r.Helper()
	LoadScripts(r.T, r.Conn)
}

// Info is a number that INFO gives in a section, by its label.
func (r *Rig) Info(section, label string) int {
	r.Helper()
	_, rest, found := strings.Cut(r.Text("INFO", section), "\n"+label+":")
	var n int
	if _, err := fmt.Sscan(rest, &n); err != nil || !found {
		r.Fatalf("INFO %s has no %s: %v", section, label, err)
	}
	return n
}

// Calls is how often each kind of command ran, by its name in upper case, calls from inside scripts included.
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

// Connections are those that the server ever accepted.
func (r *Rig) Connections() int {
	r.Helper()
	return r.Info("stats", "total_connections_received")
}

// PTTL is what is left of a key: -1 ms, it has no TTL; -2 ms, there is no such key.
func (r *Rig) PTTL(key string) time.Duration {
	r.Helper()
	return time.Duration(r.Number("PTTL", key)) * time.Millisecond
}

// Free tells whether nobody holds a key.
func (r *Rig) Free(key string) bool {
	r.Helper()
	return r.Number("EXISTS", key) == 0
}

// Channels are those that anybody is subscribed to, but for the one on which a server tells of changed keys.
func (r *Rig) Channels() []string {
	r.Helper()
	return slices.DeleteFunc(r.Strings("PUBSUB", "CHANNELS"), func(c string) bool { return c == "__redis__:invalidate" })
}

// Latches are the keys in which unlocks keep their results.
func (r *Rig) Latches() []string {
	r.Helper()
	return slices.DeleteFunc(r.Strings("KEYS", "redisson_unlock_latch:*"), func(key string) bool {
		return strings.HasSuffix(key, ":begun") // is no result: it says for a while that a semaphore was set
	})
}

// Clients counts the server's connections but for the rig's own.
func (r *Rig) Clients() int {
	r.Helper()
	return len(Clients(r.T, r.Conn))
}

// Channel is where a lock's unlocks are announced, spelled out once more: the library's own spelling is what is tested.
func Channel(name string) string { return "redisson_lock__channel:" + braced(name) }

// ReadWriteChannel is the same of a read-write lock.
func ReadWriteChannel(name string) string { return "redisson_rwlock:" + braced(name) }

func braced(name string) string {
	if strings.Contains(name, "{") {
		return name
	}
	return "{" + name + "}"
}

// Subscribed is how many wait for a lock: clients that are subscribed for it, or owners that have a channel of their own.
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
