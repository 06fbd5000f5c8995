package virtual_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

// candidates makes n clients stand for one lock, until the test ends. A leader leads until its context ends.
func (r *rig) candidates(n int, of func(c *rlock.Client) *rlock.Lock, opts ...rlock.Option) *election {
	r.Helper()
	e := &election{rig: r, terms: make(chan term, 100)}
	ctx, cancel := context.WithCancel(context.Background())
	r.Cleanup(cancel)
	for i := range n {
		c := r.open(opts...)
		e.clients = append(e.clients, c)
		over := make(chan error, 1)
		e.over = append(e.over, over)
		go func() {
			over <- of(c).Lead(ctx, func(ctx context.Context) error {
				e.terms <- term{i, ctx}
				<-ctx.Done()
				return context.Cause(ctx)
			})
		}()
	}
	return e
}

type election struct {
	*rig
	clients []*rlock.Client
	terms   chan term
	over    []chan error
}

type term struct {
	of  int
	ctx context.Context
}

// next is the next leader, which comes within a time.
func (e *election) next(within time.Duration) term {
	e.Helper()
	began := time.Now()
	select {
	case now := <-e.terms:
		return now
	case <-time.After(within + time.Minute):
		e.Fatalf("nobody has led for %v", since(began))
	}
	panic("unreachable")
}

// incidents are passing errors of a server, as it says them.
var incidents = map[string]string{
	"no memory":     "OOM command not allowed when used memory > 'maxmemory'. script: 9a6f, on @user_script:1.",
	"can't save":    "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk. script: 9a6f, on @user_script:1.",
	"no permission": "NOPERM this user has no permissions to run the 'evalsha' command",
	"another type":  "WRONGTYPE Operation against a key holding the wrong kind of value script: 9a6f, on @user_script:1.",
	"a bug":         "ERR something nobody has heard of",
	"no replicas":   "NOREPLICAS Not enough good replicas to write.",
	"a long script": "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
}

// All three candidates meet the server's errors for longer than the leader's lease, several times. Once it works again, one
// leads within the longest pause, and each has logged one line for each incident.
func TestCandidatesOutliveEachRefusal(t *testing.T) {
	for name, text := range incidents {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				seen := &lines{}
				e := r.candidates(3, func(c *rlock.Client) *rlock.Lock { return c.NewLock("election") }, rlock.WithLogger(slog.New(seen)))
				e.next(time.Second)
				for incident := range 3 {
					r.refuse(text)
					r.pass(45 * time.Second)
					r.refuse("")
					began := time.Now()
					e.next(4 * time.Second)
					if took := since(began); took > 4*time.Second {
						t.Errorf("incident %d: the next leader came %v after it", incident, took)
					}
					r.pass(10 * time.Second)
				}
				if n := seen.of("cannot lead"); n < 3 || n > 9 {
					t.Errorf("%d lines, want one for each of three incidents and each candidate that met it", n)
				}
			})
		})
	}
}

// A candidate logs one line while its error stays the same, and one more when the cause changes.
func TestCandidateLogsEachCauseOnce(t *testing.T) {
	inBubble(t, func(r *rig) {
		seen := &lines{}
		r.refuse(incidents["a bug"])
		r.candidates(1, func(c *rlock.Client) *rlock.Lock { return c.NewLock("election") }, rlock.WithLogger(slog.New(seen)))
		for want, name := range []string{"a bug", "no permission", "a bug"} {
			r.refuse(incidents[name])
			r.pass(time.Minute)
			if n := seen.of("cannot lead"); n != want+1 {
				t.Errorf("%s: %d lines, want %d", name, n, want+1)
			}
		}
	})
}

// A refused candidate pauses for three seconds at most, and asks no more often than that in the long run.
func TestCandidatesPausesGrow(t *testing.T) {
	inBubble(t, func(r *rig) {
		tries := 0
		r.at(func() {
			r.server.Refuse = func(args []string) string {
				if args[0] == "EVALSHA" || args[0] == "EVAL" {
					tries++
					return incidents["no permission"]
				}
				return ""
			}
		})
		r.candidates(1, func(c *rlock.Client) *rlock.Lock { return c.NewLock("election") })
		r.pass(time.Minute)
		before := 0
		r.at(func() { before = tries })
		r.pass(5 * time.Minute)
		n := 0
		r.at(func() { n = tries - before })
		if n < 100 || n > 200 {
			t.Errorf("%d tries in 5 minutes, want one each 1.5 to 3 s", n)
		}
	})
}

// Shutdown ends the leader's context, waits for its function and releases: the next one leads at once.
func TestShutdownEndsTheLeader(t *testing.T) {
	inBubble(t, func(r *rig) {
		e := r.candidates(2, func(c *rlock.Client) *rlock.Lock { return c.NewLock("election") })
		first := e.next(time.Second)
		r.pass(time.Second)
		began := time.Now()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := e.clients[first.of].Shutdown(ctx); err != nil {
			t.Error(err)
		}
		if cause := context.Cause(first.ctx); !errors.Is(cause, rlock.ErrClosed) || errors.Is(cause, rlock.ErrLeaseLost) {
			t.Errorf("its context ended with %v", cause)
		}
		e.next(time.Second)
		if took := since(began); took > time.Second {
			t.Errorf("the next leader came %v after Shutdown began", took)
		}
		if err := <-e.over[first.of]; !errors.Is(err, rlock.ErrClosed) {
			t.Errorf("Lead ended with %v", err)
		}
	})
}

// Shutdown waits for a leader that takes its time, and what the leader returns is in Lead's error.
func TestShutdownWaitsForTheLeader(t *testing.T) {
	inBubble(t, func(r *rig) {
		c, failed, led := r.open(), errors.New("half done"), make(chan bool)
		over := make(chan error, 1)
		go func() {
			over <- c.NewLock("election").Lead(context.Background(), func(ctx context.Context) error {
				close(led)
				<-ctx.Done()
				r.pass(7 * time.Second)
				return failed
			})
		}()
		<-led
		began := time.Now()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := c.Shutdown(ctx); err != nil || since(began) < 7*time.Second {
			t.Errorf("Shutdown returned %v after %v", err, since(began))
		}
		if err := <-over; !errors.Is(err, rlock.ErrClosed) || !errors.Is(err, failed) {
			t.Errorf("Lead ended with %v", err)
		}
		r.at(func() {
			if keys := r.server.Keys(); len(keys) > 0 {
				t.Errorf("keys are left: %v", keys)
			}
		})
	})
}

// The first of a fair lock's candidates dies, and then the leader. The next one leads within the lease and two seconds, though
// the dead candidate is before it in the queue.
func TestDeadCandidateOfAFairLockKeepsNobodyOut(t *testing.T) {
	for _, lease := range []time.Duration{3 * time.Second, 30 * time.Second} {
		t.Run(lease.String(), func(t *testing.T) {
			inBubble(t, func(r *rig) {
				e := r.candidates(4, func(c *rlock.Client) *rlock.Lock { return c.NewFairLock("election") }, rlock.WithWatchdogTimeout(lease))
				for range 3 {
					leader := e.next(time.Second)
					r.pass(lease / 2)
					synctest.Wait()
					var dead int
					r.at(func() {
						for i, c := range e.clients {
							if head := r.server.List("redisson_lock_queue:{election}"); len(head) > 0 && head[0][:36] == c.ID().String() {
								dead = i
							}
						}
						for _, i := range []int{dead, leader.of} {
							r.world.Block(host(i+1), address, true)
						}
					})
					began := time.Now()
					next := e.next(lease + 2*time.Second)
					if took := since(began); took > lease+2*time.Second || next.of == dead || next.of == leader.of {
						t.Errorf("the next leader, %d after %d with %d dead, came after %v", next.of, leader.of, dead, took)
					}
					e.terms <- next
					r.at(func() {
						for _, i := range []int{dead, leader.of} {
							r.world.Block(host(i+1), address, false)
						}
					})
					r.pass(5 * time.Second)
				}
			})
		})
	}
}

func TestSeveralCannotLeadAtOnce(t *testing.T) {
	inBubble(t, func(r *rig) {
		c := r.open()
		asked := 0
		r.at(func() { r.server.Refuse = func([]string) string { asked++; return "" } })
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		never := func(context.Context) error { t.Error("it leads"); return nil }
		for what, err := range map[string]error{
			"a read lock": c.NewReadWriteLock("x").ReadLock().Lead(ctx, never),
			"an owner":    c.NewLock("x").Lead(ctx, never, rlock.As(c.NewOwner())),
		} {
			if !errors.Is(err, rlock.ErrInvalidOption) {
				t.Errorf("%s: %v", what, err)
			}
		}
		if asked > 0 {
			t.Errorf("%d commands were sent", asked)
		}
	})
}
