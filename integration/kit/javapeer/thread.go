package javapeer

import (
	"context"
	"fmt"
	"time"
)

// Watchdog stands for no lease: Redisson renews the lock until it is released.
const Watchdog time.Duration = -1

const parkedPoll = 2 * time.Millisecond

// Thread is a thread of the JVM, and so one owner of locks. It starts at its first command and lives as long as the
// peer. The same name is the same thread.
//
// A method blocks until Java answers, its context ends (Java then goes on with the command), or the peer is gone
// ([ErrGone]). An exception becomes a [*JavaError]. Durations are sent in whole milliseconds; a fraction is an error.
type Thread struct {
	peer *Peer
	name string
	kind Kind
}

// Thread returns the thread of this name. It sends nothing to the JVM.
func (p *Peer) Thread(name string) *Thread { return &Thread{peer: p, name: name} }

// Lock is RLock.lock: it waits for the lock, and an interrupt does not end the wait.
func (t *Thread) Lock(ctx context.Context, name string, lease time.Duration) (Reply, error) {
	return t.Call(ctx, name, "lock", lease)
}

// LockInterruptibly is RLock.lockInterruptibly: [Thread.Interrupt] ends the wait with an InterruptedException.
func (t *Thread) LockInterruptibly(ctx context.Context, name string, lease time.Duration) (Reply, error) {
	return t.Call(ctx, name, "lockint", lease)
}

// TryLock is RLock.tryLock without a wait; the watchdog renews the lock. Bool says whether the lock was taken.
func (t *Thread) TryLock(ctx context.Context, name string) (Reply, error) {
	return t.do(ctx, "trylock", name)
}

// TryLockFor is RLock.tryLock with a wait, which [Thread.Interrupt] ends with an InterruptedException. Bool says
// whether the lock was taken.
func (t *Thread) TryLockFor(ctx context.Context, name string, wait, lease time.Duration) (Reply, error) {
	return t.Call(ctx, name, "trylockfor", wait, lease)
}

// Unlock is RLock.unlock: it releases one hold of this thread.
func (t *Thread) Unlock(ctx context.Context, name string) (Reply, error) {
	return t.do(ctx, "unlock", name)
}

// Handover is Unlock. Int is the time at which it began, on the clock of [Reply]'s At. The reply comes some
// milliseconds later, so that it does not delay the next holder.
func (t *Thread) Handover(ctx context.Context, name string) (Reply, error) {
	return t.do(ctx, "handover", name)
}

// ForceUnlock is RLock.forceUnlock. Bool says whether the lock existed.
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

// TryLockAndGetToken is RFencedLock.tryLockAndGetToken with a wait. Int is the token; Text is "null" if the lock was
// not taken.
func (t *Thread) TryLockAndGetToken(ctx context.Context, name string, wait, lease time.Duration) (Reply, error) {
	return t.Call(ctx, name, "trytokenfor", wait, lease)
}

// Token is RFencedLock.getToken; Int is the token of the last grant.
func (t *Thread) Token(ctx context.Context, name string) (Reply, error) {
	return t.do(ctx, "token", name)
}

// Owner is the hash field that Redisson writes for this thread, uuid:threadId, as Text.
func (t *Thread) Owner(ctx context.Context) (Reply, error) { return t.do(ctx, "owner") }

// Interrupt interrupts the command that the thread is running, without queueing behind it. Bool says whether there was
// one; if not, nothing happens, not even to a later command.
func (t *Thread) Interrupt(ctx context.Context) (Reply, error) { return t.do(ctx, "interrupt") }

// Parked says, as Bool, whether the thread waits for a lock: it was refused, has subscribed to the release message, and
// was refused again; for [Spin], it was refused and pauses. It does not queue behind the wait. A test that acts on a
// waiter must wait for this: the server's PUBSUB NUMSUB changes earlier, while Redisson is still subscribing.
func (t *Thread) Parked(ctx context.Context) (Reply, error) { return t.do(ctx, "parked") }

// AwaitParked returns when the thread is parked, or returns ctx's error.
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

// Call runs a command on an object of the thread's kind. args are its other arguments: numbers, texts, and durations
// without their unit. integration/kit/java/README.md lists the commands.
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

// millis returns d in milliseconds. Watchdog is -1, as in Redisson.
func millis(d time.Duration) (string, error) {
	if d == Watchdog {
		return "-1", nil
	}
	if d%time.Millisecond != 0 {
		return "", fmt.Errorf("%v is not in whole milliseconds", d)
	}
	return milliseconds(d), nil
}
