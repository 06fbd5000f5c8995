// Package onserver lets a test see what Go and Java leave on a server and say there.
package onserver

import (
	"fmt"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/redistest"
	"github.com/rlock-go/redisson/rlock"
)

// Patience is how long anything is waited for.
const Patience = 20 * time.Second

// View is what a test, or a part of one, sees of a server. All methods end it if the server can't tell.
type View struct {
	*testing.T
	Server *redistest.Server // nil if the server is one of several
	Conn   redis.Conn        // what the view asks by
	heard  redis.PubSubConn
	names  map[string]string // of owners, in order of appearance
}

// Start starts a server and hears all that is published there to Redisson's channels.
func Start(t *testing.T) *View {
	t.Helper()
	s := redistest.Start(t)
	v := By(t, s.Dial(t))
	v.Server, v.heard = s, redis.PubSubConn{Conn: s.Dial(t)}
	if err := v.heard.PSubscribe("redisson_*"); err != nil {
		t.Fatal(err)
	}
	v.heard.Receive()
	return v
}

// By is a view by a connection alone, which hears nothing.
func By(t *testing.T, conn redis.Conn) *View {
	return &View{T: t, Conn: conn, names: map[string]string{}}
}

// For is the same for a part of the test. It has met no owners.
func (v *View) For(t *testing.T) *View {
	part := *v
	part.T, part.names = t, map[string]string{}
	return &part
}

// Open opens a client for a test.
func Open(t *testing.T, url string, opts ...rlock.Option) *rlock.Client {
	t.Helper()
	c, err := rlock.Open(t.Context(), url, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// Do sends a command.
func (v *View) Do(command string, args ...any) any {
	v.Helper()
	reply, err := v.Conn.Do(command, args...)
	if err != nil {
		v.Fatalf("%s: %v", command, err)
	}
	return reply
}

// Must ends the test with an error.
func (v *View) Must(err error) {
	v.Helper()
	if err != nil {
		v.Fatal(err)
	}
}

// Strings sends a command whose reply is a list.
func (v *View) Strings(command string, args ...any) []string {
	v.Helper()
	all, err := redis.Strings(v.Do(command, args...), nil)
	v.Must(err)
	return all
}

// Eventually waits until something is so. The test that waits in vain ends, and shows all keys.
func (v *View) Eventually(what string, is func() bool) {
	v.Helper()
	for end := time.Now().Add(Patience); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			for _, key := range v.Strings("KEYS", "*") {
				read := map[any][]any{"hash": {"HGETALL", key}, "list": {"LRANGE", key, 0, -1}, "zset": {"ZRANGE", key, 0, -1, "WITHSCORES"}, "string": {"GET", key}}[v.Do("TYPE", key)]
				v.Logf("%s: %q", read, v.Do(read[0].(string), read[1:]...))
			}
			v.Fatalf("%v passed without: %s", Patience, what)
		}
	}
}

// Named gives owners names that don't differ between Go and Java.
func (v *View) Named(owner string) string {
	if v.names[owner] == "" {
		v.names[owner] = fmt.Sprint("OWNER", len(v.names)+1)
	}
	return v.names[owner]
}

// Anew forgets all owners, keys and messages.
func (v *View) Anew() {
	v.Helper()
	v.Do("FLUSHALL")
	v.Messages()
	clear(v.names)
}

// Messages are those since the last time.
func (v *View) Messages() (all []redis.Message) {
	v.Helper()
	v.Do("PUBLISH", "redisson_marker", "")
	for {
		m, ok := v.heard.ReceiveWithTimeout(Patience).(redis.Message)
		if !ok {
			v.Fatal("the subscriber hears nothing")
		}
		if m.Channel == "redisson_marker" {
			return all
		}
		all = append(all, m)
	}
}
