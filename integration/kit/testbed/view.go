package testbed

import (
	"fmt"
	"testing"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/kit/redisserver"
)

// View is a rig that shows what Go and Java store and publish on a server.
type View struct {
	*Rig
	heard redis.PubSubConn
	names map[string]string // of owners, in order of appearance
}

// Hear starts a server and subscribes to all of Redisson's channels there.
func Hear(t *testing.T) *View {
	t.Helper()
	v := &View{New(t, redisserver.Local(t)), redis.PubSubConn{}, map[string]string{}}
	v.heard.Conn = redisserver.Dial(t, v.Server)
	if err := v.heard.PSubscribe("redisson_*"); err != nil {
		t.Fatal(err)
	}
	v.heard.Receive()
	return v
}

// Asking returns a view on a connection alone, without a subscription.
func Asking(t *testing.T, conn redis.Conn) *View {
	return &View{Rig: &Rig{T: t, Conn: conn}, names: map[string]string{}}
}

// For returns the same view for a part of the test. It knows no owners yet.
func (v *View) For(t *testing.T) *View {
	return &View{&Rig{T: t, Server: v.Server, Conn: v.Conn}, v.heard, map[string]string{}}
}

// Must ends the test if err is not nil.
func (v *View) Must(err error) {
	v.Helper()
	Must(v, err)
}

// Named gives owners names by order of appearance, which are the same for Go and Java.
func (v *View) Named(owner string) string {
	if v.names[owner] == "" {
		v.names[owner] = fmt.Sprint("OWNER", len(v.names)+1)
	}
	return v.names[owner]
}

// Anew drops all owners, keys and messages.
func (v *View) Anew() {
	v.Helper()
	v.Do("FLUSHALL")
	v.Messages()
	clear(v.names)
}

// Messages returns the messages since the last call.
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
