package javapeer

import (
	"context"
	"fmt"
	"time"
)

// Watchdog is the lease of Redisson's calls without a lease: the lock is renewed until it is released.
const Watchdog time.Duration = -1

const parkedPoll = 2 * time.Millisecond

// Thread is a thread of the JVM, and so one owner of locks. It starts at its
// first command and lives as long as the peer; the same name is the same thread.
//
// A method blocks until Java answers, its context ends, or the peer is gone ([ErrGone]); in the second case Java goes on
// with the command. An exception is a [*JavaError]. Durations travel in whole milliseconds; a fraction is an error.
type Thread struct {
	peer *Peer
	name string
	kind Kind
}

// Thread does not talk to the JVM.
func (p *Peer) Thread(name string) *Thread { return &Thread{peer: p, name: name} }

// Lock is RLock.lock: it waits for the lock, and no interrupt ends that.
func (t *Thread) Lock(ctx context.Context, name string, lease time.Duration) (Reply, error) {
	return t.Call(ctx, name, "lock", lease)
}

// LockInterruptibly is RLock.lockInterruptibly: [Thread.Interrupt] ends the wait with an InterruptedException.
func (t *Thread) LockInterruptibly(ctx context.Context, name string, lease time.Duration) (Reply, error) {
	return t.Call(ctx, name, "lockint", lease)
}

// TryLock is RLock.tryLock without a wait; the watchdog renews what it takes. Bool tells whether it did.
func (t *Thread) TryLock(ctx context.Context, name string) (Reply, error) {
	return t.do(ctx, "trylock", name)
}

// TryLockFor is RLock.tryLock with a wait, which [Thread.Interrupt] ends with an
// InterruptedException. Bool tells whether the lock was taken.
func (t *Thread) TryLockFor(ctx context.Context, name string, wait, lease time.Duration) (Reply, error) {
	return t.Call(ctx, name, "trylockfor", wait, lease)
}

// Unlock is RLock.unlock: one hold of this thread.
func (t *Thread) Unlock(ctx context.Context, name string) (Reply, error) {
	return t.do(ctx, "unlock", name)
}

// Handover is Unlock. Int is when it began, on the clock of [Reply]'s At. The answer comes some milliseconds later, so as
// not to be in the way of who gets the lock.
func (t *Thread) Handover(ctx context.Context, name string) (Reply, error) {
	return t.do(ctx, "handover", name)
}

// ForceUnlock is RLock.forceUnlock. Bool tells whether the lock was there.
func (t *Thread) ForceUnlock(ctx context.Context, name string) (Reply, error) {
	return t.do(ctx, "forceunlock", name)
}

// IsLocked is RLock.isLocked; Bool is the answer.
func (t *Thread) IsLocked(ctx context.Context, name string) (Reply, error) {
	return t.do(ctx, "islocked", name)
}

// IsHeld is RLock.isHeldByCurrentThread; Bool is the answer.
func (t *Thread) IsHeld(ctx context.Context, name string) (Reply, error) {
	return t.do(ctx, "isheld", name)
}

// LockAndGetToken is RFencedLock.lockAndGetToken; Int is the token.
func (t *Thread) LockAndGetToken(ctx context.Context, name string, lease time.Duration) (Reply, error) {
	return t.Call(ctx, name, "locktoken", lease)
}

// TryLockAndGetToken is RFencedLock.tryLockAndGetToken with a wait. Int is the token; Text is null where
// the lock was not taken.
func (t *Thread) TryLockAndGetToken(ctx context.Context, name string, wait, lease time.Duration) (Reply, error) {
	return t.Call(ctx, name, "trytokenfor", wait, lease)
}

// Token is RFencedLock.getToken: that of the last grant, as Int.
func (t *Thread) Token(ctx context.Context, name string) (Reply, error) {
	return t.do(ctx, "token", name)
}

// Owner is the field that Redisson writes for this thread, uuid:threadId, as Text.
func (t *Thread) Owner(ctx context.Context) (Reply, error) { return t.do(ctx, "owner") }

// Interrupt interrupts the command that the thread is running. It does not queue behind it. Bool tells whether there was
// one; if not, nothing happens, and no later command is hit.
func (t *Thread) Interrupt(ctx context.Context) (Reply, error) { return t.do(ctx, "interrupt") }

// Parked tells, as Bool, whether the thread waits for a lock: it was refused, has subscribed to the release message, and
// was refused again; of [Spin], that it was refused and pauses. It does not queue behind the wait. A test that acts on a
// waiter waits for this; the server's PUBSUB NUMSUB is earlier, when Redisson is still busy subscribing.
func (t *Thread) Parked(ctx context.Context) (Reply, error) { return t.do(ctx, "parked") }

// AwaitParked returns once the thread is parked, or ctx's error.
func (t *Thread) AwaitParked(ctx context.Context) error {
	ticker := time.NewTicker(parkedPoll)
	defer ticker.Stop()
	for {
		r, err := t.Parked(ctx)
		if err != nil {
			return err
		}
		if r.Bool() {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("javapeer: %s does not wait for a lock: %w", t.name, ctx.Err())
		case <-ticker.C:
		}
	}
}

func (t *Thread) do(ctx context.Context, command string, args ...string) (Reply, error) {
	return t.peer.calls.do(ctx, t.kind.command(command), append([]string{t.name}, args...)...)
}

// Call runs a command about an object of the thread's kind, by its name in small letters, with what it takes besides units:
// numbers, durations and texts. integration/kit/java/README.md has the commands.
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
		default:
			texts = append(texts, fmt.Sprint(v))
		}
	}
	return t.do(ctx, command, texts...)
}

// millis keeps Watchdog as it is: Redisson, too, spells it -1.
func millis(d time.Duration) (string, error) {
	if d == Watchdog {
		return "-1", nil
	}
	if d%time.Millisecond != 0 {
		return "", fmt.Errorf("%v is not in whole milliseconds", d)
	}
	return milliseconds(d), nil
}
