package pipeline

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/internal/redisconn"
	"github.com/rlock-go/redisson/internal/testkit/monitor"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

func TestCallersShareOneConnectionAndGetTheirOwnReplies(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	p := start(t, s)
	var wg sync.WaitGroup
	for g := range 64 {
		wg.Go(func() {
			for i := range 200 {
				want := fmt.Sprintf("%d-%d", g, i)
				r := <-ask(p, "ECHO", want)
				if got, err := redis.String(r.Reply, r.Err); got != want {
					t.Errorf("asked for %s, got %q, %v", want, got, err)
					return
				}
			}
		})
	}
	wg.Wait()
	list, err := redis.String(s.Dial(t).Do("CLIENT", "LIST"))
	if err != nil {
		t.Fatal(err)
	}
	// The other connection is the test's.
	if n := strings.Count(list, "\n"); n != 2 {
		t.Fatalf("%d connections:\n%s", n, list)
	}
}

func TestServerErrorIsTheRequestsOwn(t *testing.T) {
	t.Parallel()
	p := start(t, redistest.Start(t))
	bad, good := ask(p, "NOSUCHCOMMAND"), ask(p, "ECHO", "x")
	if r := end(t, bad); !redisconn.IsRefusal(r.Err) {
		t.Errorf("got %v, %v", r.Reply, r.Err)
	}
	if got, err := redis.String(end(t, good).Reply, nil); got != "x" || err != nil {
		t.Errorf("the request behind it got %q, %v", got, err)
	}
}

func TestA1ScriptIsLoadedOnceForAllWhoMissIt(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	p := start(t, s)
	for round := range 3 {
		before := loads(t, s)
		var wg sync.WaitGroup
		for i := range 100 {
			wg.Go(func() {
				done := make(chan *Request, 1)
				r := &Request{Done: CompletionFunc(func(r *Request) { done <- r })}
				r.Call(luasrc.Lock(nil, fmt.Sprintf("k%d-%d", round, i), "o", 10_000))
				submit(p, r)
				if r := <-done; r.Err != nil || r.Reply != nil {
					t.Errorf("got %v, %v", r.Reply, r.Err)
				}
			})
		}
		wg.Wait()
		if n := loads(t, s) - before; n != 1 {
			t.Errorf("round %d: %d SCRIPT LOAD for 100 callers", round, n)
		}
		if _, err := s.Dial(t).Do("SCRIPT", "FLUSH"); err != nil {
			t.Fatal(err)
		}
	}
}

// loads returns how often a script was loaded.
func loads(t *testing.T, s *redistest.Server) int {
	t.Helper()
	info, err := redis.String(s.Dial(t).Do("INFO", "commandstats"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	fmt.Sscanf(field(info, "cmdstat_script|load:calls=", ","), "%d", &n)
	return n
}

func TestUnreachableServerIsNotSentWithinTheTimeout(t *testing.T) {
	t.Parallel()
	refused := errors.New("refused")
	p := open(t, func(context.Context) (redis.Conn, error) { return nil, refused }, Options{})
	r := end(t, ask(p, "PING"))
	if _, ok := r.Err.(*NotSentError); !ok || !errors.Is(r.Err, refused) {
		t.Fatalf("got %v", r.Err)
	}
	if !errors.Is(p.Err(), refused) {
		t.Errorf("Err is %v", p.Err())
	}
}

func TestPermanentRefusalIsToldAtOnce(t *testing.T) {
	t.Parallel()
	dials := 0
	p := open(t, func(context.Context) (redis.Conn, error) {
		dials++
		return nil, redis.Error("WRONGPASS invalid username-password pair or user is disabled.")
	}, Options{})
	r := end(t, ask(p, "PING"))
	if !strings.Contains(r.Err.Error(), "WRONGPASS") {
		t.Fatalf("got %v", r.Err)
	}
	if dials != 1 {
		t.Errorf("dialled %d times", dials)
	}
}

func TestServerThatComesBackInTimeIsNobodysError(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	p := start(t, s)
	end(t, ask(p, "PING"))
	s.Stop()
	awaitClosed(t, p)
	done := ask(p, "ECHO", "x")
	s.Restart()
	if got, err := redis.String(end(t, done).Reply, nil); got != "x" {
		t.Fatalf("got %q, %v", got, err)
	}
}

func TestIdleCloseIsNobodysError(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	p := start(t, s)
	c := s.Dial(t)
	for range 50 {
		old := id(t, p)
		if n, err := redis.Int(c.Do("CLIENT", "KILL", "ID", old)); n != 1 || err != nil {
			t.Fatalf("killed %d, %v", n, err)
		}
		// The server's FIN could cross the next command.
		awaitClosed(t, p)
		if r := end(t, ask(p, "PING")); r.Err != nil {
			t.Fatalf("got %v", r.Err)
		}
	}
}

// awaitClosed waits until the pipeline has noticed the end of its connection.
func awaitClosed(t *testing.T, p *Pipeline) {
	t.Helper()
	redistest.Becomes(t, "the end of an idle connection is seen", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.conn == nil
	})
}

func TestSilentServerIsLostWithinTheTimeout(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	p := start(t, s)
	end(t, ask(p, "PING"))
	s.Pause()
	defer s.Resume()
	r := end(t, ask(p, "SET", "k", "v"))
	if _, ok := r.Err.(*LostError); !ok || !strings.Contains(r.Err.Error(), "no reply within") {
		t.Fatalf("got %v", r.Err)
	}
}

func TestCancelTakesBackWhatWasNotWritten(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	s := redistest.Start(t)
	dial := dialler(t, s)
	p := open(t, func(ctx context.Context) (redis.Conn, error) {
		<-hold
		return dial(ctx)
	}, Options{})
	never := &Request{Command: "SET", Args: []any{"k", "v"}, Done: CompletionFunc(func(*Request) { t.Error("a cancelled request was completed") })}
	submit(p, never)
	behind := ask(p, "EXISTS", "k")
	if !p.Cancel(never) {
		t.Error("it was not written and yet not taken back")
	}
	close(hold)
	if n, err := redis.Int(end(t, behind).Reply, nil); n != 0 || err != nil {
		t.Errorf("the cancelled command ran: %d, %v", n, err)
	}
	if p.Cancel(never) {
		t.Error("it was taken back twice")
	}
}

func TestDiscardsRideAlongInOneCommand(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	p := start(t, s)
	for i := range 10 {
		end(t, ask(p, "SET", fmt.Sprint("k", i), "v"))
	}
	m := monitor.Tap(t, s.URL())
	for i := range 10 {
		p.Discard(fmt.Sprint("k", i))
	}
	end(t, ask(p, "ECHO", "x"))
	end(t, ask(p, "ECHO", "y"))
	lines := m.Mark()
	var cmds []string
	for _, l := range lines {
		cmds = append(cmds, l.Args[0])
	}
	if got := strings.Join(cmds, " "); got != "ECHO DEL ECHO" {
		t.Errorf("the server saw %s", got)
	}
	if n := len(lines[1].Args); n != 11 {
		t.Errorf("the DEL had %d arguments", n)
	}
}

// goes waits until the key is deleted.
func goes(t *testing.T, c redis.Conn, key string) {
	t.Helper()
	redistest.Becomes(t, key+" is gone", func() bool {
		n, err := redis.Int(c.Do("EXISTS", key))
		if err != nil {
			t.Fatal(err)
		}
		return n == 0
	})
}

func TestDiscardGoesAloneWhenNothingFollows(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	p := start(t, s)
	end(t, ask(p, "SET", "k", "v"))
	p.Discard("k")
	c := s.Dial(t)
	goes(t, c, "k")
}

func TestE1CloseEndsWhatIsOpen(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	for name, prepare := range map[string]func(p *Pipeline){
		"never used":     func(*Pipeline) {},
		"idle":           func(p *Pipeline) { end(t, ask(p, "PING")) },
		"reply withheld": func(p *Pipeline) { end(t, ask(p, "PING")); s.Pause() },
	} {
		t.Run(name, func(t *testing.T) {
			defer s.Resume()
			p := start(t, s)
			prepare(p)
			var done <-chan *Request
			if name == "reply withheld" {
				done = ask(p, "PING")
			}
			p.Close(timeout / 10)
			p.Close(timeout / 10)
			if done != nil {
				if r := end(t, done); r.Err == nil {
					t.Error("it was answered")
				}
			}
			if r := end(t, ask(p, "PING")); !errors.Is(r.Err, ErrClosed) {
				t.Errorf("after Close: %v", r.Err)
			}
		})
	}
}

func TestDiscardThatABrokenConnectionSwallowedIsSentAgain(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	p := start(t, s)
	end(t, ask(p, "SET", "k", "v"))
	c := s.Dial(t)
	// The connection breaks when the server has read the DEL but not run it.
	if _, err := c.Do("CLIENT", "PAUSE", 60_000, "WRITE"); err != nil {
		t.Fatal(err)
	}
	p.Discard("k")
	for deadline := time.Now().Add(timeout / 2); ; {
		list, err := redis.String(c.Do("CLIENT", "LIST"))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(list, " cmd=del ") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the DEL never reached the server")
		}
	}
	if n, err := redis.Int(c.Do("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")); n < 1 || err != nil {
		t.Fatalf("killed %d, %v", n, err)
	}
	if _, err := c.Do("CLIENT", "UNPAUSE"); err != nil {
		t.Fatal(err)
	}
	goes(t, c, "k")
}

func TestDiscardThatTheServerRefusedIsSentAgain(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	p := start(t, s)
	end(t, ask(p, "SET", "k", "v"))
	c := s.Dial(t)
	if _, err := c.Do("CONFIG", "SET", "min-replicas-to-write", 1); err != nil {
		t.Fatal(err)
	}
	p.Discard("k")
	redistest.Becomes(t, "the DEL meets the refusal", func() bool {
		if r := end(t, ask(p, "DEL", "else")); !strings.HasPrefix(fmt.Sprint(r.Err), "NOREPLICAS") {
			t.Fatalf("it was not refused: %v", r.Err)
		}
		return p.wasRefused()
	})
	if _, err := c.Do("CONFIG", "SET", "min-replicas-to-write", 0); err != nil {
		t.Fatal(err)
	}
	goes(t, c, "k")
}

func (p *Pipeline) wasRefused() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.refused
}
