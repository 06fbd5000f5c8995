package simulation

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

// commandTimeout is the clients', which is the default. An eighth more is granted to each call, and
// a hundredth, because a client's clock may be slow.
const (
	commandTimeout = 3 * time.Second
	oneTimeout     = (commandTimeout + commandTimeout/8) * 101 / 100
)

// process is a Client of the plan with its client, which may be closed and replaced.
type process struct {
	*play
	Client
	index int
	host  string
	now   *life // guarded by the world's lock
	lives []*life
}

// life is one client of a process.
type life struct {
	c    *rlock.Client
	id   string
	host string
	rate float64 // of its clock

	// Guarded by the world's lock: whether a Close or Shutdown has begun, and when that must have ended.
	closed   bool
	closesBy time.Time

	seen struct{ acquire, acquired, release, released atomic.Int64 }
}

func (p *process) open() error {
	l := &life{host: p.host}
	opts := []rlock.Option{p.dialer(p.host), rlock.WithObserver(l.observer(p.Observed))}
	if !p.Courtesy {
		opts = append(opts, rlock.WithCourtesy(false))
	}
	ctx, end := context.WithTimeout(context.Background(), time.Minute)
	defer end()
	before := len(clocks())
	c, err := rlock.Open(ctx, p.site.url(), opts...)
	if err != nil {
		return err
	}
	p.w.Mu.Lock()
	defer p.w.Mu.Unlock()
	l.c, l.id, l.rate = c, c.ID().String(), slowest
	if rates := clocks(); len(rates) == before+1 {
		l.rate = rates[before]
	}
	p.clients[l.id] = l
	p.now, p.lives = l, append(p.lives, l)
	return nil
}

// observer counts events in pairs. A process without observation has the events of none.
func (l *life) observer(on bool) rlock.Observer {
	if !on {
		return rlock.Observer{}
	}
	return rlock.Observer{
		Acquire:  func(ctx context.Context, _ rlock.Subject) context.Context { l.seen.acquire.Add(1); return ctx },
		Acquired: func(context.Context, rlock.Subject, rlock.AcquireEvent) { l.seen.acquired.Add(1) },
		Release:  func(ctx context.Context, _ rlock.Subject) context.Context { l.seen.release.Add(1); return ctx },
		Released: func(context.Context, rlock.Subject, rlock.ReleaseEvent) { l.seen.released.Add(1) },
	}
}

// client returns the client that the process has now.
func (p *process) client() *life {
	p.w.Mu.Lock()
	defer p.w.Mu.Unlock()
	return p.now
}

// restarts closes the client at the times that the plan has for it, in either way, and opens a new one.
func (p *process) restarts(r *rand.Rand, ended <-chan struct{}) {
	for _, at := range p.Restarts {
		select {
		case <-ended:
			return
		case <-time.After(at):
		}
		old := p.client()
		grace := time.Duration(r.IntN(3)) * 2 * time.Second
		p.close(old, grace)
		for p.open() != nil { // a storm
			select {
			case <-ended:
				return
			case <-time.After(time.Second):
			}
		}
	}
}

// close ends a client: at once, or by Shutdown with so much time.
func (p *process) close(l *life, grace time.Duration) {
	bound := oneTimeout + grace
	if slices.ContainsFunc(p.Objects, func(o Object) bool { return o.Kind == Fair }) {
		bound += oneTimeout // which who leaves a queue has behind the last answer
	}
	began := time.Now()
	p.w.Mu.Lock()
	p.closes(l, began.Add(bound))
	p.w.Note("%s closes %s within %v", p.host, l.id, grace)
	p.w.Mu.Unlock()
	late := time.AfterFunc(bound+1, func() { p.violation("bound: Close of %s goes on after %v, its bound", p.host, bound) })
	var err error
	if grace == 0 {
		err = l.c.Close()
	} else {
		ctx, end := context.WithTimeout(context.Background(), grace)
		err = l.c.Shutdown(ctx)
		end()
		if errors.Is(err, context.DeadlineExceeded) {
			err = nil
		}
	}
	late.Stop()
	p.w.Mu.Lock()
	defer p.w.Mu.Unlock()
	p.longest(fmt.Sprintf("Close after %v", grace), time.Since(began))
	if err != nil {
		p.violate("Close of %s: %v", p.host, err)
	}
}
