package alike

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// Go is a client. A name that holds the lock acts as that hold's owner; another gets a new owner for each call.
type Go struct {
	Client *rlock.Client
	// CtxWaits limits waits by a context instead of rlock.Wait, so that a fair lock's queue does not know the limit.
	CtxWaits bool
	Named    string // the object's name at this side; empty: the play's
	Kept     bool   // a name keeps its first owner for ever, as a Java thread does
	Foreign  bool   // owners' texts have left by when they unlock, so that unlocks have Redisson's form

	mu      sync.Mutex             // guards what follows
	as      map[string]rlock.Owner // fixed owners
	holds   map[string][]held      // by who and name
	permits map[string]*rlock.Permits
	multi   map[string]*rlock.MultiHold // by who
}

type held struct {
	kind javapeer.Kind
	*rlock.Hold
}

// NewGo opens a client, which ends with t.
func NewGo(t *testing.T, url string, opts ...rlock.Option) *Go {
	t.Helper()
	return GoOf(testbed.Open(t, url, opts...))
}

func GoOf(c *rlock.Client) *Go {
	return &Go{Client: c, as: map[string]rlock.Owner{}, holds: map[string][]held{}, permits: map[string]*rlock.Permits{}, multi: map[string]*rlock.MultiHold{}}
}

// As fixes who's owner, whatever it holds.
func (s *Go) As(who string, owner rlock.Owner) { s.as[who] = owner }

func (s *Go) Dies() { s.Client.Close() }

// Owner is [Side.Owner], for a name that holds a lock or has a fixed owner.
func (s *Go) Owner(_ context.Context, who string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, all := range s.holds {
		if strings.HasPrefix(key, who+" ") && len(all) > 0 {
			return all[0].Owner().String(), nil
		}
	}
	return s.as[who].String(), nil
}

// owner returns who's owner, or a new one, and whether an acquisition must name it.
func (s *Go) owner(who, name string) (rlock.Owner, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o, is := s.as[who]; is {
		return o, true
	}
	if all := s.holds[who+" "+name]; len(all) > 0 {
		return all[0].Owner(), true
	}
	owner := s.Client.NewOwner()
	if s.Kept {
		s.as[who] = owner
	}
	return owner, s.Kept
}

func (s *Go) Multi(who string) *rlock.MultiHold { return s.multi[who] }

// Hold returns who's latest hold, nil if there is none. If taken, it is also forgotten.
func (s *Go) Hold(who string, k javapeer.Kind, name string, taken bool) *rlock.Hold {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.holds[who+" "+name]
	for i, h := range slices.Backward(all) {
		if h.kind == k {
			if taken {
				s.holds[who+" "+name] = slices.Delete(all, i, i+1)
			}
			return h.Hold
		}
	}
	return nil
}

func (s *Go) Do(ctx context.Context, who string, k javapeer.Kind, name, method string, args ...any) (string, error) {
	name = cmp.Or(s.Named, name)
	switch k {
	case "permits":
		return s.doPermits(ctx, s.Client.NewPermitSemaphore(name), method, args)
	case "semaphore":
		return doSemaphore(ctx, s.Client.NewSemaphore(name), method, args)
	case "countdown":
		return doLatch(ctx, s.Client.NewCountDownLatch(name), method, args)
	}
	if k == javapeer.Multi {
		return s.doMulti(ctx, who, name, method, args)
	}
	l := k.GoLock(s.Client, name)
	if method == "unlock" { // by the hold if there is one, since UnlockAs releases in another way
		if h := s.Hold(who, k, name, true); h != nil {
			if s.Foreign {
				_ = h.Owner().String()
			}
			return said("", h.Unlock(ctx))
		}
		method = "unlockas"
	}
	owner, known := s.owner(who, name)
	if s.Foreign && method == "unlockas" {
		_ = owner.String()
	}
	switch method {
	case "lock":
		said, err := s.acquire(ctx, l, who, k, owner, known, duration(args, 0))
		return strings.Replace(said, "true", "", 1), err
	case "trylock":
		return s.acquire(ctx, l, who, k, owner, known, 0, rlock.Wait(0))
	case "trylockfor":
		wait := duration(args, 0)
		if !s.CtxWaits || wait == 0 {
			return s.acquire(ctx, l, who, k, owner, known, duration(args, 1), rlock.Wait(wait))
		}
		limited, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		text, err := s.acquire(limited, l, who, k, owner, known, duration(args, 1))
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			return "false", nil
		}
		return text, err
	case "locktoken", "trytokenfor":
		args, opts := args, []rlock.AcquireOption{}
		if method == "trytokenfor" {
			args, opts = args[1:], append(opts, rlock.Wait(duration(args, 0)))
		}
		got, err := s.acquire(ctx, l, who, k, owner, known, duration(args, 0), opts...)
		if err != nil || got != "true" {
			return strings.Replace(got, "false", "null", 1), err
		}
		return said(s.Hold(who, k, name, false).Token(), nil)
	case "token":
		return said(l.LastToken(ctx))
	case "remain":
		d, err := l.RemainTTL(ctx)
		if errors.Is(err, rlock.ErrNotLocked) {
			return "-2", nil
		}
		return said(d.Milliseconds(), err)
	case "unlockas": // even if who has a hold
		return said("", l.UnlockAs(ctx, owner))
	case "forceunlock":
		return said(l.ForceUnlock(ctx))
	case "islocked":
		return said(l.IsLocked(ctx))
	case "isheld":
		return said(l.IsHeldBy(ctx, owner))
	case "holdcount":
		return said(l.HoldCount(ctx, owner))
	}
	return "", errors.New("no such method of a lock: " + method)
}

func (s *Go) acquire(ctx context.Context, l *rlock.Lock, who string, k javapeer.Kind, owner rlock.Owner, known bool, lease time.Duration, opts ...rlock.AcquireOption) (string, error) {
	if known {
		opts = append(opts, rlock.As(owner))
	}
	if lease > 0 {
		opts = append(opts, rlock.Lease(lease))
	}
	h, err := l.Lock(ctx, opts...)
	if err != nil {
		return said("", err)
	}
	s.mu.Lock()
	s.holds[who+" "+l.Name()] = append(s.holds[who+" "+l.Name()], held{k, h})
	s.mu.Unlock()
	return "true", nil
}

// doMulti calls a method of several locks together, which the name lists as javapeer's does.
func (s *Go) doMulti(ctx context.Context, who, name, method string, args []any) (string, error) {
	var members []*rlock.Lock
	for member := range strings.SplitSeq(name, ",") {
		kind, name, of := strings.Cut(member, "=")
		if !of {
			kind, name = "", member
		}
		members = append(members, javapeer.Kind(kind).GoLock(s.Client, name))
	}
	if method == "unlock" {
		return said("", s.multi[who].Unlock(ctx))
	}
	var opts []rlock.AcquireOption
	if method == "trylock" {
		opts = append(opts, rlock.Wait(0))
	} else if lease := duration(args, 0); lease > 0 {
		opts = append(opts, rlock.Lease(lease))
	}
	h, err := rlock.NewMultiLock(members...).Lock(ctx, opts...)
	if err == nil {
		s.multi[who] = h
	}
	return said("", err)
}

func (s *Go) doPermits(ctx context.Context, p *rlock.PermitSemaphore, method string, args []any) (string, error) {
	taken := func(n int, wait, lease time.Duration) (string, error) {
		var opts []rlock.PermitOption
		if wait >= 0 {
			opts = append(opts, rlock.Wait(wait))
		}
		if lease > 0 {
			opts = append(opts, rlock.Lease(lease))
		}
		got, err := p.Acquire(ctx, n, opts...)
		if err != nil {
			text, err := said("", err)
			return strings.Replace(text, "false", "null", 1), err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.permits[got.IDs()[0]] = got
		return strings.Join(got.IDs(), " "), nil
	}
	var ids []string
	for _, a := range args {
		ids = append(ids, fmt.Sprint(a))
	}
	s.mu.Lock()
	own := s.permits[strings.Join(ids[:min(1, len(ids))], "")]
	s.mu.Unlock()
	switch method {
	case "acquire":
		return taken(1, -1, duration(args, 0))
	case "acquiremany":
		return taken(number(args), -1, duration(args, 1))
	case "tryacquirefor":
		return taken(1, duration(args, 0), duration(args, 1))
	case "release", "releasemany":
		if own != nil {
			return said("", own.Release(ctx))
		}
		return said("", p.ReleaseIDs(ctx, ids...))
	case "trysetpermits":
		return said(p.TrySetPermits(ctx, number(args)))
	case "setpermits":
		return said("", p.SetPermits(ctx, number(args)))
	case "addpermits":
		return said("", p.AddPermits(ctx, number(args)))
	case "updatelease":
		var err error
		if own != nil {
			err = own.Extend(ctx, duration(args, 1))
		} else {
			err = p.SetLease(ctx, ids[0], duration(args, 1))
		}
		if errors.Is(err, rlock.ErrNotHeld) {
			return "false", nil
		}
		return said(true, err)
	case "leaseleft":
		d, err := p.LeaseOf(ctx, ids[0])
		if d == rlock.NoExpiry && err == nil {
			return "never", nil
		}
		return said(d.Milliseconds(), err)
	case "available":
		return said(p.Available(ctx))
	case "acquired":
		return said(p.Acquired(ctx))
	case "total":
		return said(p.Total(ctx))
	case "delete":
		return said(p.Delete(ctx))
	}
	return "", errors.New("no such method of permits: " + method)
}

func doSemaphore(ctx context.Context, s *rlock.Semaphore, method string, args []any) (string, error) {
	switch n := number(args); method {
	case "acquire":
		return "", s.Acquire(ctx, n)
	case "tryacquire":
		return said(true, s.TryAcquire(ctx, n))
	case "tryacquirefor":
		return said(true, s.TryAcquireFor(ctx, n, duration(args, 1)))
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
	return "", errors.New("no such method of a semaphore: " + method)
}

func doLatch(ctx context.Context, l *rlock.CountDownLatch, method string, args []any) (string, error) {
	switch method {
	case "trysetcount":
		return said(l.TrySetCount(ctx, int64(number(args))))
	case "countdown":
		return "", l.CountDown(ctx)
	case "await":
		return "", l.Await(ctx)
	case "awaitfor":
		return said(true, l.AwaitFor(ctx, duration(args, 0)))
	case "count":
		return said(l.Count(ctx))
	case "delete":
		return said(l.Delete(ctx))
	}
	return "", errors.New("no such method of a latch: " + method)
}

// duration returns the i-th argument; 0 if it is missing or the watchdog's.
func duration(args []any, i int) time.Duration {
	if i >= len(args) {
		return 0
	}
	d, _ := args[i].(time.Duration)
	return max(d, 0)
}

func number(args []any) int {
	if len(args) == 0 {
		return 0
	}
	n, _ := strconv.Atoi(fmt.Sprint(args[0]))
	return n
}
