package javapeer

import (
	"context"
	"fmt"
	"strconv"
	"time"
)

// PermitVersions are the releases that tests of permits run against: the newest of each line, and the first whose ids Go's
// are like; in full, all that were recorded.
func PermitVersions(full bool) []string {
	if full {
		return Recorded
	}
	return []string{Newest, "3.21.3"}
}

// Permits is RPermitExpirableSemaphore of one name, on a thread of the JVM.
type Permits struct {
	t    *Thread
	name string
}

// Permits does not talk to the JVM.
func (t *Thread) Permits(name string) *Permits { return &Permits{t.Of("permits"), name} }

func (p *Permits) do(ctx context.Context, command string, args ...any) (Reply, error) {
	return p.t.about(ctx, p.name, command, args...)
}

// about runs a command about an object that is no lock.
func (t *Thread) about(ctx context.Context, name, command string, args ...any) (Reply, error) {
	texts := []string{name}
	for _, a := range args {
		switch v := a.(type) {
		case time.Duration:
			ms, err := millis(v)
			if err != nil {
				return Reply{}, fmt.Errorf("javapeer: %s: %w", command, err)
			}
			texts = append(texts, ms)
		case int:
			texts = append(texts, strconv.Itoa(v))
		default:
			texts = append(texts, fmt.Sprint(v))
		}
	}
	return t.do(ctx, command, texts...)
}

// Acquire is acquire; Text is the id. A lease of [Watchdog] is none: the permit never expires.
func (p *Permits) Acquire(ctx context.Context, lease time.Duration) (Reply, error) {
	return p.do(ctx, "acquire", lease)
}

// AcquireMany is acquire of several; Values are the ids. 3.21.3 and older have none.
func (p *Permits) AcquireMany(ctx context.Context, n int, lease time.Duration) (Reply, error) {
	return p.do(ctx, "acquiremany", n, lease)
}

// TryAcquire is tryAcquire without a wait; Text is the id, or null.
func (p *Permits) TryAcquire(ctx context.Context) (Reply, error) { return p.do(ctx, "tryacquire") }

// TryAcquireFor is tryAcquire; Text is the id, or null.
func (p *Permits) TryAcquireFor(ctx context.Context, wait, lease time.Duration) (Reply, error) {
	return p.do(ctx, "tryacquirefor", wait, lease)
}

// Release is release.
func (p *Permits) Release(ctx context.Context, id string) error {
	_, err := p.do(ctx, "release", id)
	return err
}

// ReleaseMany is release of several. 3.21.3 and older have none.
func (p *Permits) ReleaseMany(ctx context.Context, ids ...string) error {
	args := []any{}
	for _, id := range ids {
		args = append(args, id)
	}
	_, err := p.do(ctx, "releasemany", args...)
	return err
}

// TryRelease is tryRelease; Bool is the answer.
func (p *Permits) TryRelease(ctx context.Context, id string) (Reply, error) {
	return p.do(ctx, "tryrelease", id)
}

// Set is setPermits, trySetPermits or addPermits, by the method's name in small letters.
func (p *Permits) Set(ctx context.Context, method string, n int) (Reply, error) {
	return p.do(ctx, method, n)
}

// UpdateLease is updateLeaseTime; Bool is the answer.
func (p *Permits) UpdateLease(ctx context.Context, id string, lease time.Duration) (Reply, error) {
	return p.do(ctx, "updatelease", id, lease)
}

// LeaseLeft is getLeaseTime; Int is in ms. 3.37.0 and older have none.
func (p *Permits) LeaseLeft(ctx context.Context, id string) (Reply, error) {
	return p.do(ctx, "leaseleft", id)
}

// Count is availablePermits ("available"), acquiredPermits ("acquired") or getPermits ("total"); Int is the answer. 3.16.8
// and older have the first only.
func (p *Permits) Count(ctx context.Context, which string) (Reply, error) { return p.do(ctx, which) }

// Delete is delete; Bool is the answer.
func (p *Permits) Delete(ctx context.Context) (Reply, error) { return p.do(ctx, "delete") }
