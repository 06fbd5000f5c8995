package javapermits

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/integration/javapeer"
	"github.com/rlock-go/redisson/rlock"
)

// number is a semaphore without owners or a count-down latch, of a Go client or a JVM. do calls one of Java's methods, see
// [javapeer.Number], and returns its answer as Java prints it; a method that returns nothing answers "".
type number interface {
	do(ctx context.Context, method string, args ...any) (string, error)
}

type javaNumber struct{ *javapeer.Number }

func (n javaNumber) do(ctx context.Context, method string, args ...any) (string, error) {
	r, err := n.Do(ctx, method, args...)
	if err != nil {
		return "", err
	}
	return r.Text(), nil
}

type goSemaphore struct{ *rlock.Semaphore }

func (s goSemaphore) do(ctx context.Context, method string, args ...any) (string, error) {
	n := 1
	if len(args) > 0 {
		n = args[0].(int)
	}
	switch method {
	case "acquire":
		return "", s.Acquire(ctx, n)
	case "tryacquire":
		return tried(s.TryAcquire(ctx, n))
	case "tryacquirefor":
		return tried(s.TryAcquireFor(ctx, n, args[1].(time.Duration)))
	case "release":
		return "", s.Release(ctx, n)
	case "releaseifexists":
		return said(s.ReleaseIfExists(ctx, n))
	case "trysetpermits":
		return said(s.TrySetPermits(ctx, n))
	case "addpermits":
		return "", s.AddPermits(ctx, n)
	case "available":
		return said(s.Available(ctx))
	case "drain":
		return said(s.Drain(ctx))
	case "delete":
		return said(s.Delete(ctx))
	}
	return "", errors.New("no such method: " + method)
}

type goLatch struct{ *rlock.CountDownLatch }

func (l goLatch) do(ctx context.Context, method string, args ...any) (string, error) {
	switch method {
	case "trysetcount":
		return said(l.TrySetCount(ctx, int64(args[0].(int))))
	case "countdown":
		return "", l.CountDown(ctx)
	case "await":
		return "", l.Await(ctx)
	case "awaitfor":
		return tried(l.AwaitFor(ctx, args[0].(time.Duration)))
	case "count":
		return said(l.Count(ctx))
	case "delete":
		return said(l.Delete(ctx))
	}
	return "", errors.New("no such method: " + method)
}

func said(v any, err error) (string, error) { return fmt.Sprint(v), err }

func tried(err error) (string, error) {
	if errors.Is(err, rlock.ErrNoPermits) || errors.Is(err, rlock.ErrNotOpen) {
		return "false", nil
	}
	return "true", err
}

// numbers are both sides of one kind of number, and where who waits listens.
type numbers struct {
	*rig
	url     string
	channel string
	client  *rlock.Client
	peer    *javapeer.Peer
	golang  number
	of      func(*javapeer.Thread) number
}

func (p *numbers) java(thread string) number { return p.of(p.peer.Thread(thread)) }

func semaphores(r *rig, url, version, name string) *numbers {
	r.Helper()
	p := &numbers{rig: r, url: url, channel: codec.PermitChannel(name), client: newGoSide(r.T, url).client, peer: javapeer.Start(r.T, version, url)}
	p.golang = goSemaphore{p.client.NewSemaphore(name)}
	p.of = func(t *javapeer.Thread) number { return javaNumber{t.Semaphore(name)} }
	return p
}

func latches(r *rig, url, version, name string) *numbers {
	r.Helper()
	p := &numbers{rig: r, url: url, channel: codec.CountDownChannel(name), client: newGoSide(r.T, url).client, peer: javapeer.Start(r.T, version, url)}
	p.golang = goLatch{p.client.NewCountDownLatch(name)}
	p.of = func(t *javapeer.Thread) number { return javaNumber{t.CountDownLatch(name)} }
	return p
}

// sides are the two, each with the other.
func (p *numbers) sides() map[string][2]number {
	return map[string][2]number{"Go": {p.golang, p.java("waits")}, "Java": {p.java("acts"), p.golang}}
}

// says runs a method that must answer this.
func (p *numbers) says(want string, n number, method string, args ...any) {
	p.Helper()
	if got, err := n.do(p.Context(), method, args...); got != want || err != nil {
		p.Errorf("%T: %s %v: %q, %v; want %q", n, method, args, got, err, want)
	}
}

// ended is how and when a call that waits came back.
type ended struct {
	said string
	err  error
	at   time.Time
}

func (p *numbers) waits(ctx context.Context, n number, method string, args ...any) <-chan ended {
	got := make(chan ended, 1)
	go func() {
		text, err := n.do(ctx, method, args...)
		got <- ended{text, err, time.Now()}
	}()
	return got
}

// soon receives what must come in time.
func (p *numbers) soon(what string, got <-chan ended) ended {
	p.Helper()
	select {
	case e := <-got:
		if e.err != nil {
			p.Errorf("%s: %v", what, e.err)
		}
		return e
	case <-time.After(patience):
		p.Fatalf("%s: not within %v", what, patience)
		return ended{}
	}
}

// parked waits until a Java thread waits for a message.
func (p *numbers) parked(thread string) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.Context(), patience)
	defer cancel()
	p.Must(p.peer.Thread(thread).AwaitParked(ctx))
}

// wakeUps times rounds in which one side wakes one who waits on the other, each by one message: a look without one comes
// after 0.8 s.
func (p *numbers) wakeUps(wait, wake func(n number), method string, args ...any) {
	p.Helper()
	for who, s := range p.sides() {
		var took []time.Duration
		for range 15 {
			wait(s[0])
			got := p.waits(p.Context(), s[1], method, args...)
			p.listeningTo(p.channel, 1)
			if who == "Go" {
				p.parked("waits")
			}
			from := time.Now()
			wake(s[0])
			took = append(took, p.soon("who waits while "+who+" acts", got).at.Sub(from))
			p.Eventually("nobody listens", func() bool { return p.listeners() == 0 })
		}
		slices.Sort(took)
		p.Logf("woken by %s %s: p50 %v, at most %v", who, p.peer.Version, took[len(took)/2], took[len(took)-1])
		if p50 := took[len(took)/2]; p50 > 250*time.Millisecond {
			p.Errorf("woken by %s after %v at the median", who, p50)
		}
	}
}

func (p *numbers) listeners() int {
	counts := p.Do("PUBSUB", "NUMSUB", p.channel).([]any)
	return int(counts[1].(int64))
}

// numberShow is a part of what is shown of a number.
type numberShow struct {
	name string
	show func(p *numbers)
}

// shows plays each, as a subtest of t, and tells how many were shown.
func shows(t *testing.T, p *numbers, all []numberShow) (shown int) {
	t.Helper()
	r := p.rig
	for _, s := range all {
		t.Run(s.name, func(t *testing.T) {
			p.rig = r.of(t)
			s.show(p)
			shown++
		})
	}
	return shown
}

// SemaphoreBesideJava shows each behaviour of a semaphore with a release of Redisson, and tells how many were shown.
func SemaphoreBesideJava(t *testing.T, version string) int {
	r := newRig(t)
	p := semaphores(r, r.Server.URL(), version, name)
	p.says("true", p.golang, "trysetpermits", 3)
	return shows(t, p, []numberShow{
		{"never more than there are", func(p *numbers) { neverMoreThan(p, 3) }},
		{"a release wakes the other", func(p *numbers) {
			p.says("3", p.java("acts"), "drain")
			p.wakeUps(func(number) {}, func(n number) { p.says("", n, "release", 1) }, "acquire", 1)
			p.says("", p.golang, "release", 3)
		}},
		{"a release wakes several", severalWake},
		{"who leaves takes nothing", goneWaiters},
		{"those of the dead are lost", deadHolder},
	})
}

// neverMoreThan has both sides take and give back permits.
func neverMoreThan(p *numbers, all int) {
	p.says(strconv.Itoa(all), p.golang, "available")
	var inside, most atomic.Int32
	var wg sync.WaitGroup
	work := func(s number, n int) {
		for range 15 {
			if _, err := s.do(p.Context(), "acquire", n); err != nil {
				p.Error(err)
				return
			}
			now := inside.Add(int32(n))
			for seen := most.Load(); seen < now && !most.CompareAndSwap(seen, now); seen = most.Load() {
			}
			time.Sleep(time.Millisecond)
			inside.Add(int32(-n))
			if _, err := s.do(p.Context(), "release", n); err != nil {
				p.Error(err)
			}
		}
	}
	for i := range 3 {
		wg.Go(func() { work(p.golang, 1+i%2) })
		wg.Go(func() { work(p.java(fmt.Sprint("worker", i)), 1) })
	}
	wg.Wait()
	if n := int(most.Load()); n > all || n < 2 {
		p.Errorf("up to %d permits were taken at once, of %d", n, all)
	}
	p.says(strconv.Itoa(all), p.java("acts"), "available")
}

// severalWake has two of each side wait, of which one wants two, and all that they want be released at once.
func severalWake(p *numbers) {
	for who, s := range p.sides() {
		p.says("3", s[0], "drain")
		var got []<-chan ended
		for i, n := range []int{1, 2} {
			got = append(got, p.waits(p.Context(), p.golang, "acquire", n))
			thread := fmt.Sprint("several", i)
			got = append(got, p.waits(p.Context(), p.java(thread), "acquire", n))
			p.parked(thread)
		}
		p.listeningTo(p.channel, 2)
		p.says("", s[0], "release", 6)
		for _, one := range got {
			p.soon("who waits while "+who+" releases 6", one)
		}
		p.says("0", s[1], "available")
		p.says("", s[1], "release", 3)
	}
}

// goneWaiters has waiters leave by their limit, a cancellation, an interrupt and a kill. None takes anything.
func goneWaiters(p *numbers) {
	p.says("3", p.golang, "drain")
	for _, s := range []number{p.golang, p.java("acts")} {
		p.says("false", s, "tryacquirefor", 1, 50*time.Millisecond)
	}
	// One message for each who stays: none is lost to who has left.
	leave(p, func() { p.says("", p.java("acts"), "release", 1); p.says("", p.golang, "release", 1) }, "acquire", 1)
	p.says("0", p.golang, "available")
	p.says("", p.java("acts"), "release", 3)
}

// leave has three wait: a Go caller who is cancelled, a Java thread that is interrupted, and one of a JVM that is killed; and
// behind them one of each side who stays, and is woken. Nobody listens in the end, and the server has no further key.
func leave(p *numbers, wake func(), method string, args ...any) {
	p.Helper()
	victim := javapeer.Start(p.T, p.peer.Version, p.url)
	killed := p.waits(p.Context(), p.of(victim.Thread("w")), method, args...)
	ctx, cancel := context.WithCancel(p.Context())
	cancelled := p.waits(ctx, p.golang, method, args...)
	interrupted := p.waits(p.Context(), p.java("interrupted"), method, args...)
	p.parked("interrupted")
	p.listeningTo(p.channel, 3)
	stay := []<-chan ended{p.waits(p.Context(), p.golang, method, args...), p.waits(p.Context(), p.java("stays"), method, args...)}
	p.parked("stays")
	cancel()
	if e := <-cancelled; !errors.Is(e.err, context.Canceled) {
		p.Errorf("cancelled: %v", e.err)
	}
	if _, err := p.peer.Thread("interrupted").Interrupt(p.Context()); err != nil {
		p.Error(err)
	}
	if e := <-interrupted; e.err == nil || !strings.Contains(e.err.Error(), "InterruptedException") {
		p.Errorf("interrupted: %v", e.err)
	}
	victim.Kill()
	<-killed
	p.Eventually("the dead listen no more", func() bool { return p.listeners() == 2 })
	wake()
	for _, one := range stay {
		p.soon("who stays", one)
	}
	p.Eventually("nobody listens", func() bool { return p.listeners() == 0 })
	p.Eventually("no key but the number's", func() bool {
		keys, err := redis.Strings(p.Do("KEYS", "*"), nil)
		return err == nil && len(slices.DeleteFunc(keys, func(key string) bool { return key == name })) == 0
	})
}

// deadHolder shows what nobody owns: the permits of a JVM, or of a client, that dies are lost until somebody releases them.
func deadHolder(p *numbers) {
	victim := javapeer.Start(p.T, p.peer.Version, p.url)
	p.says("true", p.of(victim.Thread("w")), "tryacquire", 1)
	victim.Kill()
	doomed := newGoSide(p.T, p.url).client
	p.Must(doomed.NewSemaphore(name).TryAcquire(p.Context(), 1))
	p.Must(doomed.Close())
	p.says("1", p.golang, "available")
	p.says("", p.golang, "release", 2)
	p.says("3", p.golang, "available")
}
