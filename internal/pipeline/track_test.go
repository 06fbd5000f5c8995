package pipeline

import (
	"errors"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// Each server counts its client ids from the start, so this id may be another client's there.
func TestListenerOfAnotherServerIsNotTold(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	listener, other := s.Dial(t), s.Dial(t)
	info, err := redis.String(listener.Do("CLIENT", "INFO"))
	if err != nil {
		t.Fatal(err)
	}
	id, err := redis.Int64(listener.Do("CLIENT", "ID"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := listener.Do("SUBSCRIBE", "__redis__:invalidate"); err != nil {
		t.Fatal(err)
	}
	why := make(chan error, 10)
	p := open(t, dialler(t, s), Options{Node: Node{Untracked: func(err error) { why <- err }}})
	reads := func(want bool) {
		t.Helper()
		done := make(chan *Request, 1)
		submit(p, &Request{Command: "EXISTS", Args: []any{"orders"}, Track: true, Done: CompletionFunc(func(r *Request) { done <- r })})
		if r := end(t, done); r.Err != nil || r.Reply != int64(0) || r.Tracked != want {
			t.Errorf("%v, %v; tracked %v, want %v", r.Reply, r.Err, r.Tracked, want)
		}
	}
	reads(false) // there is no listener
	for _, id := range []int64{id, id + 1000} {
		p.SetListener(Listener{id, "192.0.2.1:6379"})
		reads(false) // the server is asked for the listener
		reads(false) // which is another client or none
		select {
		case err := <-why:
			if !errors.Is(err, ErrNoListener) {
				t.Error(err)
			}
		default:
			t.Fatal("nobody was told why")
		}
	}
	p.SetListener(Listener{id, "192.0.2.2:6379"})
	s.Pause()
	begun := make(chan *Request, 1)
	submit(p, &Request{Command: "EXISTS", Args: []any{"orders"}, Track: true, Done: CompletionFunc(func(r *Request) { begun <- r })})
	for written := false; !written; time.Sleep(time.Millisecond) {
		p.mu.Lock()
		written = p.conn.inflight > 0
		p.mu.Unlock()
	}
	p.SetListener(ParseListener(info)) // an answer about the listener before no longer counts
	s.Resume()
	end(t, begun)
	reads(false)
	reads(true)
	if _, err := other.Do("SET", "orders", "written"); err != nil {
		t.Fatal(err)
	}
	if told, err := redis.Values(redis.ReceiveWithTimeout(listener, 10*time.Second)); err != nil || len(told) != 3 {
		t.Errorf("told %s, %v", told, err)
	}
	if len(why) > 0 {
		t.Error(<-why)
	}
}
