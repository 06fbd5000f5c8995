package pipeline

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/redisconn"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// talker is a proxy to a server that may add replies.
type talker struct {
	net.Listener
	to string

	mu     sync.Mutex // guards what follows
	client net.Conn   // the last one
	behind bool       // a reply is added behind the next one
}

func startTalker(t *testing.T, s *redistest.Server) *talker {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	talks := &talker{Listener: l, to: s.Addr()}
	var all sync.WaitGroup
	all.Go(func() { talks.accept(&all) })
	t.Cleanup(func() { l.Close(); all.Wait() })
	return talks
}

func (l *talker) accept(all *sync.WaitGroup) {
	for {
		client, err := l.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", l.to)
		if err != nil {
			client.Close()
			continue
		}
		l.mu.Lock()
		l.client = client
		l.mu.Unlock()
		all.Go(func() { _, _ = io.Copy(server, client); server.Close() })
		all.Go(func() { l.answer(client, server); client.Close() })
	}
}

func (l *talker) answer(client, server net.Conn) {
	b := make([]byte, 1<<16)
	for {
		n, err := server.Read(b)
		if err != nil {
			return
		}
		l.mu.Lock()
		said := b[:n]
		if l.behind {
			said = append(said, "$-1\r\n"...)
		}
		l.behind = false
		_, _ = client.Write(said)
		l.mu.Unlock()
	}
}

// A reply to no command must not go to the next command, for which it might be a grant. The
// connection is given up, and unsent commands go to another.
func TestAReplyThatNobodyAskedForIsNobodys(t *testing.T) {
	for what, say := range map[string]func(l *talker, p *Pipeline){
		"behind another": func(l *talker, p *Pipeline) {
			l.mu.Lock()
			l.behind = true
			l.mu.Unlock()
			end(t, ask(p, "PING"))
		},
		"after a while": func(l *talker, p *Pipeline) {
			end(t, ask(p, "PING"))
			l.mu.Lock()
			defer l.mu.Unlock()
			_, _ = l.client.Write([]byte("$-1\r\n"))
			arrived(t, l.client)
		},
	} {
		for company, ask := range map[string]func(p *Pipeline) *Request{
			"alone": func(p *Pipeline) *Request { return end(t, ask(p, "PING")) },
			"by one that must not wait": func(p *Pipeline) *Request {
				done := make(chan *Request, 1)
				p.Enqueue(&Request{Command: "PING", Done: CompletionFunc(func(r *Request) { done <- r })}, 0)
				p.WakeWriter()
				return end(t, done)
			},
		} {
			t.Run(what+", then a command "+company, func(t *testing.T) {
				l := startTalker(t, redistest.Start(t))
				target, err := redisconn.ParseURL("redis://" + l.Addr().String())
				if err != nil {
					t.Fatal(err)
				}
				p := open(t, func(ctx context.Context) (redis.Conn, error) { return target.Dial(ctx, timeout) }, Options{})
				for range 20 {
					c := inUse(t, p)
					if c.atOnce {
						c = goesOn(t, p)
					}
					say(l, p)
					for met := c.atOnce; !met; { // otherwise the reader notices
						p.mu.Lock()
						met = p.conn != c
						p.mu.Unlock()
					}
					r := ask(p)
					if _, unsent := errors.AsType[*NotSentError](r.Err); r.Err == nil && r.Reply != "PONG" || r.Err != nil && !unsent {
						t.Fatalf("PING was answered %v, %v", r.Reply, r.Err)
					}
					connected(t, p, c)
				}
			})
		}
	}
}
