package javapeer

import (
	"context"
	"fmt"
	"strconv"
	"time"
)

// Permits is RPermitExpirableSemaphore of one name, on a thread of the JVM.
type Permits struct {
	t    *Thread
	name string
}

// Permits does not talk to the JVM.
func (t *Thread) Permits(name string) *Permits { return &Permits{t.Of("permits"), name} }

func (p *Permits) do(ctx context.Context, command string, args ...any) (Reply, error) {
	return p.t.Call(ctx, p.name, command, args...)
}

// Call runs a command about an object of the thread's kind, by its name in small letters, with what it takes besides units: numbers, durations
// and texts.
func (t *Thread) Call(ctx context.Context, name, command string, args ...any) (Reply, error) {
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

// TryRelease is tryRelease; Bool is the answer.
func (p *Permits) TryRelease(ctx context.Context, id string) (Reply, error) {
	return p.do(ctx, "tryrelease", id)
}

// Set is setPermits, trySetPermits or addPermits, by the method's name in small letters.
func (p *Permits) Set(ctx context.Context, method string, n int) (Reply, error) {
	return p.do(ctx, method, n)
}

// Count is availablePermits ("available"), acquiredPermits ("acquired") or getPermits ("total"); Int is the answer. 3.16.8
// and older have the first only.
func (p *Permits) Count(ctx context.Context, which string) (Reply, error) { return p.do(ctx, which) }

// Delete is delete; Bool is the answer.
func (p *Permits) Delete(ctx context.Context) (Reply, error) { return p.do(ctx, "delete") }
