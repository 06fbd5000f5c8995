package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// An agent makes the calls of one client, in this process or in a child.
type agent struct {
	client *rlock.Client
	pool   *redis.Pool
	lock   *rlock.Lock
	unseen bool // no owner is shown but by doShow

	mu    sync.Mutex // guards what follows
	holds map[int]*kept
	last  int
}

// kept is a hold that an acquire gave.
type kept struct {
	hold  *rlock.Hold
	owner string
	since int64 // when its acquire returned
}

// The kinds of errors, by name.
var kinds = map[string]error{
	"locked": rlock.ErrLocked, "uncertain": rlock.ErrUncertain, "lost": rlock.ErrLeaseLost, "notheld": rlock.ErrNotHeld,
	"released": rlock.ErrReleased, "closed": rlock.ErrClosed, "invalid": rlock.ErrInvalidOption,
	"ctx": context.DeadlineExceeded, "canceled": context.Canceled,
}

// do makes one call.
func (a *agent) do(o op) (r reply) {
	ctx, cancel := context.Background(), func() {}
	if o.Ctx != 0 {
		ctx, cancel = context.WithTimeout(ctx, o.Ctx)
	}
	defer cancel()
	r.Start = now()
	err := a.call(ctx, o, &r)
	r.End = now()
	r.ID = o.Line
	if o.Do == doClose {
		r.Lent = a.lent()
	}
	if o.acquires() && err != nil && r.Throughout {
		r.Throughout = a.heldSince(r.Owner, r.Start)
	}
	if err != nil {
		r.Text = err.Error()
		for name, kind := range kinds {
			if errors.Is(err, kind) {
				r.Kinds = append(r.Kinds, name)
			}
		}
	}
	return r
}

func (a *agent) call(ctx context.Context, o op, r *reply) (err error) {
	switch o.Do {
	case doOpen:
		a.holds = map[int]*kept{}
		if a.client, a.pool, err = o.Open.open(); err == nil {
			a.lock, a.unseen = a.client.NewLock(o.Open.Name), o.Open.Unseen
		}
		return err
	case doMint:
		r.Owner = a.client.NewOwner().String()
	case doLock, doTry, doTryFor:
		return a.acquire(ctx, o, r)
	case doUnlock:
		return a.hold(o.Hold).hold.Unlock(ctx)
	case doExtend:
		h := a.hold(o.Hold).hold
		err := h.Extend(ctx, o.Lease)
		r.Until = instant(h.ValidUntil())
		return err
	case doUnlockAs:
		owner, err := rlock.ParseOwner(o.As)
		if err != nil {
			return err
		}
		return a.lock.UnlockAs(ctx, owner)
	case doShow:
		r.Owner = testbed.Field(a.hold(o.Hold).hold.Owner())
	case doForce:
		r.Forced, err = a.lock.ForceUnlock(ctx)
		return err
	case doSurvey:
		r.Sights = a.survey()
	case doShutdown:
		return a.client.Shutdown(ctx)
	case doClose:
		return a.client.Close()
	default:
		return fmt.Errorf("no such call: %q", o.Do)
	}
	return nil
}

func (a *agent) hold(id int) *kept {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.holds[id]
}

func (a *agent) acquire(ctx context.Context, o op, r *reply) error {
	var opts []rlock.AcquireOption
	if o.As != "" {
		owner, text, err := a.owner(o.As)
		if err != nil {
			return err
		}
		r.Owner = text
		r.Throughout = a.heldSince(text, r.Start)
		opts = append(opts, rlock.As(owner))
	}
	if o.Lease != 0 {
		opts = append(opts, rlock.Lease(o.Lease))
	}
	if o.MaxHold != 0 {
		opts = append(opts, rlock.MaxHold(o.MaxHold))
	}
	var h *rlock.Hold
	var err error
	switch o.Do {
	case doLock:
		h, err = a.lock.Lock(ctx, opts...)
	case doTry:
		h, err = a.lock.TryLock(ctx, opts...)
	default:
		h, err = a.lock.TryLockFor(ctx, o.Wait, opts...)
	}
	if err != nil {
		return err
	}
	r.Until, r.Owner = instant(h.ValidUntil()), a.ownerOf(h)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.last++
	r.Hold = a.last
	a.holds[r.Hold] = &kept{h, r.Owner, now()}
	return nil
}

// ownerOf is who holds, as the server knows it.
func (a *agent) ownerOf(h *rlock.Hold) string {
	if !a.unseen {
		return testbed.Field(h.Owner())
	}
	text := strings.TrimSuffix(h.String(), ")") // which shows it to nobody
	return text[strings.LastIndexByte(text, ' ')+1:]
}

// owner finds whom an op names.
func (a *agent) owner(as string) (rlock.Owner, string, error) {
	if id, ok := strings.CutPrefix(as, "#"); ok {
		var n int
		if _, err := fmt.Sscan(id, &n); err != nil {
			return rlock.Owner{}, "", err
		}
		h := a.hold(n)
		return h.hold.Owner(), h.owner, nil
	}
	o, err := rlock.ParseOwner(as)
	return o, as, err
}

// heldSince tells whether the owner has a hold in this client that was there at that instant and is valid still.
func (a *agent) heldSince(owner string, at int64) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, h := range a.holds {
		if h.owner == owner && h.since <= at && h.hold.Err() == nil {
			return true
		}
	}
	return false
}

// survey asks each hold that is not known to be over. Each is told of as over once.
func (a *agent) survey() (all []sight) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for id, h := range a.holds {
		s := sight{Hold: id, Until: instant(h.hold.ValidUntil())}
		err := h.hold.Err()
		if s.Valid = err == nil && now() < s.Until; err != nil {
			s.Text = err.Error()
		}
		all = append(all, s)
	}
	return all
}

// lent is how many connections the pool still misses after the client was closed. A dial that nobody waits for may bring
// one a while later, and give it back.
func (a *agent) lent() int {
	if a.pool == nil {
		return 0
	}
	lent := func() int { s := a.pool.Stats(); return s.ActiveCount - s.IdleCount }
	for end := time.Now().Add(4 * time.Second); lent() > 0 && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
	}
	defer a.pool.Close()
	return lent()
}
