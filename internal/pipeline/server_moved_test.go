package pipeline

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/redisconn"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// address decides which server new connections reach; existing connections stay.
type address struct {
	at atomic.Pointer[redistest.Server]
}

func (a *address) dial(ctx context.Context) (redis.Conn, error) {
	target, err := redisconn.ParseURL(a.at.Load().URL())
	if err != nil {
		return nil, err
	}
	return target.Dial(ctx, timeout)
}

// dialService dials one address that leads to the current server, like a load balancer's.
func (a *address) dialService(ctx context.Context) (redis.Conn, error) {
	service := redisconn.Target{Address: "service:6379", Dialer: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, a.at.Load().Addr())
	}}
	return service.Dial(ctx, timeout)
}

// follow makes s a replica of master and waits until it has its data.
func follow(t *testing.T, s, master *redistest.Server) {
	t.Helper()
	c := s.Dial(t)
	if _, err := master.Dial(t).Do("CONFIG", "SET", "repl-diskless-sync-delay", 0); err != nil {
		t.Fatal(err)
	}
	host, port, _ := net.SplitHostPort(master.Addr())
	if _, err := c.Do("REPLICAOF", host, port); err != nil {
		t.Fatal(err)
	}
	redistest.Becomes(t, "the replica has its master's data", func() bool {
		text, _ := redis.String(c.Do("INFO", "replication"))
		return strings.Contains(text, "master_link_status:up")
	})
}

func TestCommandThatAReplicaRefusesGoesToTheMasterThatTheAddressLeadsTo(t *testing.T) {
	t.Parallel()
	old, next := redistest.Start(t), redistest.Start(t)
	var a address
	a.at.Store(old)
	moves := make(chan struct{}, 10)
	p := open(t, a.dial, Options{Node: Node{Connected: func(_ string, moved bool) {
		if moved {
			moves <- struct{}{}
		}
	}}})
	end(t, ask(p, "SET", "k", "1"))
	follow(t, old, next)
	a.at.Store(next)
	r := end(t, askAgain(p, "INCR", "n"))
	if r.Err != nil || r.Reply != int64(1) {
		t.Fatalf("got %v, %v", r.Reply, r.Err)
	}
	select {
	case <-moves:
	case <-time.After(10 * timeout):
		t.Error("nobody was told that the server moved")
	}
	if n, err := redis.Int(next.Dial(t).Do("GET", "n")); n != 1 || err != nil {
		t.Errorf("the new master has %d, %v", n, err)
	}
}

func TestServerThatStaysReadOnlyIsToldAsThat(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "a timeout passes")
	master, replica := redistest.Start(t), redistest.Start(t)
	follow(t, replica, master)
	var a address
	a.at.Store(replica)
	var dials atomic.Int64
	p := open(t, func(ctx context.Context) (redis.Conn, error) {
		dials.Add(1)
		return a.dial(ctx)
	}, Options{})
	r := end(t, ask(p, "SET", "k", "1"))
	if _, ok := r.Err.(*NotSentError); !ok {
		t.Fatalf("got %v, %v", r.Reply, r.Err)
	}
	if e, ok := errors.AsType[*redisconn.ReplicaError](r.Err); !ok || !strings.Contains(e.Error(), " is a replica of "+master.Addr()+" (link up)") {
		t.Errorf("got %v", r.Err)
	}
	if n := dials.Load(); n > 30 {
		t.Errorf("%d attempts to connect in a second", n)
	}
	// Now it becomes the master.
	done := ask(p, "SET", "k", "1")
	if _, err := replica.Dial(t).Do("REPLICAOF", "NO", "ONE"); err != nil {
		t.Fatal(err)
	}
	if r := end(t, done); r.Err != nil {
		t.Errorf("a master by now: %v", r.Err)
	}
}

// The subscriptions may have reached the replica, too. It takes SUBSCRIBE, so they would not notice.
func TestMoveIsToldWhenAReplicaWasRefusedMeanwhile(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "some pauses pass")
	master, replica := redistest.Start(t), redistest.Start(t)
	follow(t, replica, master)
	var a address
	a.at.Store(master)
	moves := make(chan struct{}, 10)
	p := open(t, a.dial, Options{Node: Node{Connected: func(_ string, moved bool) {
		if moved {
			moves <- struct{}{}
		}
	}}})
	before := id(t, p)
	a.at.Store(replica)
	if _, err := master.Dial(t).Do("CLIENT", "KILL", "ID", before); err != nil {
		t.Fatal(err)
	}
	for r := end(t, ask(p, "SET", "k", "1")); ; r = end(t, ask(p, "SET", "k", "1")) {
		if _, ok := errors.AsType[*redisconn.ReplicaError](r.Err); ok {
			break
		} else if r.Err == nil {
			t.Fatal("a replica took a write")
		}
	}
	a.at.Store(master)
	if r := end(t, ask(p, "SET", "k", "1")); r.Err != nil {
		t.Fatal(r.Err)
	}
	select {
	case <-moves:
	case <-time.After(10 * timeout):
		t.Error("nobody was told that the server moved")
	}
}

// A connection that just breaks may lead elsewhere next, while the subscriptions have not broken.
func TestMoveIsToldWhenTheNextConnectionReachesAnotherServer(t *testing.T) {
	for name, dial := range map[string]func(*address) func(context.Context) (redis.Conn, error){
		"at its own address": func(a *address) func(context.Context) (redis.Conn, error) { return a.dial },
		"behind one address": func(a *address) func(context.Context) (redis.Conn, error) { return a.dialService },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old, next := redistest.Start(t), redistest.Start(t)
			var a address
			a.at.Store(old)
			moves := make(chan struct{}, 10)
			p := open(t, dial(&a), Options{Node: Node{Connected: func(_ string, moved bool) {
				if moved {
					moves <- struct{}{}
				}
			}}})
			breaks := func(s *redistest.Server) {
				t.Helper()
				before := id(t, p)
				if _, err := s.Dial(t).Do("CLIENT", "KILL", "ID", before); err != nil {
					t.Fatal(err)
				}
				for end(t, ask(p, "PING")).Err != nil {
				}
			}
			breaks(old)
			select {
			case <-moves:
				t.Error("the same server counts as another")
			default:
			}
			a.at.Store(next)
			breaks(old)
			select {
			case <-moves:
			case <-time.After(10 * timeout):
				t.Error("nobody was told that the server moved")
			}
		})
	}
}

// A server without HELLO (before 6.0) may also hide ROLE. Its first refusal of a write then reveals a replica.
func TestServerThatHidesItsRoleIsFoundOutByItsFirstRefusal(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "a replica and a pause")
	old := []string{"--rename-command", "HELLO", "", "--rename-command", "ROLE", ""}
	master, replica := redistest.Start(t, old...), redistest.Start(t, old...)
	follow(t, replica, master)
	var a address
	a.at.Store(replica)
	var dials atomic.Int64
	p := open(t, func(ctx context.Context) (redis.Conn, error) {
		dials.Add(1)
		return a.dial(ctx)
	}, Options{})
	// Its time may end in the pause before the next connection.
	if r := end(t, askAgain(p, "SET", "k", "1")); !refusedReadOnly(r.Err) && !errors.Is(r.Err, errReadOnly) {
		t.Fatalf("got %v, %v", r.Reply, r.Err)
	}
	if n := dials.Load(); n > 30 {
		t.Errorf("%d attempts to connect in a second", n)
	}
	done := askAgain(p, "SET", "k", "1")
	a.at.Store(master)
	if r := end(t, done); r.Err != nil {
		t.Errorf("the address leads to the master: %v", r.Err)
	}
}

// A demotion ends the WAITs under way. The writes before them ran, and no other server has them.
func TestWriteOfAMasterThatIsDemotedIsUnacknowledged(t *testing.T) {
	t.Parallel()
	master := redistest.Start(t)
	replica := master.StartReplica(t)
	p := open(t, dialler(t, master), Options{Replicas: true})
	end(t, ask(p, "PING"))
	c := master.Dial(t)
	replica.Pause()
	defer replica.Resume()
	done := make(chan *Request, 1)
	submit(p, &Request{Command: "SET", Args: []any{"k", "1"}, Wait: true, Done: CompletionFunc(func(r *Request) { done <- r })})
	master.AwaitBlocked(t)
	if _, err := c.Do("REPLICAOF", "127.0.0.1", 1); err != nil {
		t.Fatal(err)
	}
	if r := end(t, done); r.Err != nil || r.Reply != "OK" || r.Replicas != 1 || r.Acked != 0 {
		t.Errorf("got %v, %v; %d of %d replicas have it", r.Reply, r.Err, r.Acked, r.Replicas)
	}
}

// No other command is sent: only the DEL finds out that its server has become a replica.
func TestDiscardThatAReplicaRefusesGivesTheConnectionUp(t *testing.T) {
	t.Parallel()
	old, next := redistest.Start(t), redistest.Start(t)
	var a address
	a.at.Store(old)
	p := open(t, a.dial, Options{})
	end(t, ask(p, "PING"))
	if _, err := next.Dial(t).Do("SET", "k", "1"); err != nil {
		t.Fatal(err)
	}
	follow(t, old, next)
	a.at.Store(next)
	p.Discard("k")
	c := next.Dial(t)
	redistest.Becomes(t, "the DEL comes to the new master", func() bool {
		n, err := redis.Int(c.Do("EXISTS", "k"))
		return n == 0 && err == nil
	})
}

// A pool keeps its connections to the former master, and they still work.
func TestPoolFullOfConnectionsToAReplicaIsEmptied(t *testing.T) {
	t.Parallel()
	old, next := redistest.Start(t), redistest.Start(t)
	var at atomic.Pointer[redistest.Server]
	at.Store(old)
	pool := &redis.Pool{MaxIdle: 20, Dial: func() (redis.Conn, error) {
		return redis.Dial("tcp", at.Load().Addr(), redis.DialReadTimeout(timeout), redis.DialWriteTimeout(timeout))
	}}
	t.Cleanup(func() { pool.Close() })
	var lent []redis.Conn
	for range 10 {
		c := pool.Get()
		if _, err := c.Do("PING"); err != nil {
			t.Fatal(err)
		}
		lent = append(lent, c)
	}
	for _, c := range lent {
		c.Close()
	}
	p := open(t, func(ctx context.Context) (redis.Conn, error) { return redisconn.Borrow(ctx, pool) }, Options{})
	end(t, ask(p, "PING"))
	follow(t, old, next)
	at.Store(next)
	if r := end(t, askAgain(p, "INCR", "n")); r.Err != nil || r.Reply != int64(1) {
		t.Fatalf("got %v, %v", r.Reply, r.Err)
	}
}

func TestReadOnlyIsUnderstoodFromEveryRelease(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"READONLY You can't write against a read only replica.":                                 true,
		"READONLY You can't write against a read only replica. script: 6b8, on @user_script:1.": true,
		// Redis 6.2 in the error of a script.
		"ERR Error running script (call to f_6b8): @user_script:1: @user_script: 1: -READONLY You can't write against a read only replica.": true,
		"ERR Error running script (call to f_6b8): @user_script:1: -READONLY You can't write against a read only replica.":                  true,
		"OOM command not allowed when used memory > 'maxmemory'.":                                                                           false,
		"ERR no such key READONLY ": false,
	} {
		if refusedReadOnly(redis.Error(text)) != want {
			t.Errorf("%s: not %t", text, want)
		}
	}
}

func TestRetiredConnectionLosesNothing(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	p := start(t, s)
	before := id(t, p)
	// Its reply is certainly still expected when the connection is retired.
	pending := []<-chan *Request{ask(p, "BLPOP", "nothing", "0.3")}
	awaitBlocked(t, s)
	for range 200 {
		pending = append(pending, ask(p, "INCR", "n"))
	}
	if !p.Retire(errors.New("the test wants another")) {
		t.Error("there was no connection")
	}
	for range 200 {
		pending = append(pending, ask(p, "INCR", "n"))
	}
	for _, r := range pending {
		if r := end(t, r); r.Err != nil {
			t.Fatal(r.Err)
		}
	}
	if n, err := redis.Int(s.Dial(t).Do("GET", "n")); n != 400 || err != nil {
		t.Errorf("%d of 400 ran, %v", n, err)
	}
	if after := id(t, p); after == before {
		t.Error("it is the same connection")
	}
	// An idle connection is replaced as well.
	before = id(t, p)
	p.Retire(errors.New("once more"))
	if after := id(t, p); after == before {
		t.Error("it is the same connection")
	}
}

func TestServersThatAreNotSingleAreRefused(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]*redistest.Server{
		"redis+cluster://":  redistest.Start(t, "--cluster-enabled", "yes"),
		"redis+sentinel://": redistest.StartSentinel(t, ""),
	} {
		p := start(t, s)
		began := time.Now()
		r := end(t, ask(p, "PING"))
		if !errors.Is(r.Err, redisconn.ErrTopology) || !strings.Contains(r.Err.Error(), want) {
			t.Errorf("%s: got %v, %v after %v", want, r.Reply, r.Err, time.Since(began))
		}
	}
}

// askAgain is ask by a caller that follows the master, as the executor does.
func askAgain(p *Pipeline, command string, args ...any) <-chan *Request {
	done := make(chan *Request, 1)
	submit(p, &Request{Command: command, Args: args, Done: CompletionFunc(func(r *Request) {
		if refusedReadOnly(r.Err) {
			p.GiveUp(r)
			if clock.System().Now() < r.Deadline && p.Enqueue(r, r.Deadline) {
				return
			}
		}
		done <- r
	})})
	return done
}

func refusedReadOnly(err error) bool {
	said, _ := redisconn.RefusalOf(err)
	return said.ReadOnly()
}
