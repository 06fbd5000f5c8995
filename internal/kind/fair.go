package kind

import (
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/luasrc"
)

// Fair is Redisson's RFairLock: a plain lock whose waiters are in a list on the server, each
// with its own channel. A waiter without a time limit keeps its place for wait.
func Fair(wait time.Duration) Kind { return fair{wait: wait} }

type fair struct {
	reentrant
	wait time.Duration // Redisson's fairLockWaitTimeout
}

var fairTraits = hashTraits(func(t *Traits) { t.Label, t.Queue, t.ByOwner = FairLabel, "fair", true })

// names that a fair lock has in addition to a plain lock's
const (
	queueName = channelName + 1 + iota
	timesName
)

// These bound the pauses. A place is kept longer than any of them.
const (
	shortestFairPause = 100 * time.Millisecond
	longestFairPause  = 5 * time.Second
)

func (fair) Traits() *Traits { return &fairTraits }

func (fair) Names(key string) Names {
	return Names{keyName: key, channelName: codec.Channel(key), queueName: codec.FairQueue(key), timesName: codec.FairTimes(key)}
}

func (fair) Channel(n *Names, o Owner) string { return codec.FairChannel(n.Key(), o.String()) }

// place is how long w keeps a place in the queue, in ms. It is the same in all commands of a
// waiter, because what the waiter added to the time of those behind it is subtracted again.
func (k fair) place(w *Want) Arg {
	if w.Wait <= 0 {
		return k.wait.Milliseconds()
	}
	return max(w.Wait.Milliseconds(), 1)
}

func (k fair) Acquire(room []any, w *Want) Call {
	n, once := w.Names, 0
	if w.OneTry {
		once = 1
	}
	call := oneKey(luasrc.FairLock(room, n[keyName], n[queueName], n[timesName], n[channelName], w.Owner, w.Lease, k.place(w), once, w.Publish), Never)
	call.Ahead = absent(3, 4)
	return call
}

// absent is the Ahead of a script that makes those of its arguments which are keys, if they are nowhere. A
// key that the server which a slot leaves does not have is not made there either, so this stays true.
func absent(keys ...int) Ahead {
	return func(args []any, _ string, _ time.Duration) (calls []Call) {
		for _, at := range keys {
			call := Read("EXISTS", args[at])
			call.Absent = true
			calls = append(calls, call)
		}
		return calls
	}
}

func (fair) Release(room []any, w *Want) Call {
	n := w.Names
	if w.Keep.Millis > 0 {
		return Run(luasrc.FairKeep(room, n[keyName], n[queueName], n[timesName], w.Latch, n[channelName], w.Owner, w.Lease, w.LatchTTL, w.Keep.Owner, w.Keep.Millis, w.Left, w.Publish), Always)
	}
	call := Run(luasrc.FairUnlock(room, n[keyName], n[queueName], n[timesName], w.Latch, n[channelName], w.Owner, w.Lease, w.LatchTTL, w.Left, w.Publish), Always)
	call.OneKey = w.Latch == nil
	return call
}

// Leave removes the waiters from the queue. Doing it twice has the effect of once.
func (k fair) Leave(all ...*Want) Call {
	n := all[0].Names
	return Run(luasrc.FairLeave(n[keyName], n[queueName], n[timesName], n[channelName], all[0].Publish, len(all), func(i int) (owner, wait Arg) {
		return all[i].Owner, k.place(all[i])
	}), Always)
}

// Pause is, for the head, until the lease ends, and for the next few waiters until the head's
// place expires; after a refusal at least 100 ms and at most 5 s. The others wait for a
// message, but look every 5 s in case the waiters before them are gone.
func (fair) Pause(_ int, g Grant) (least, most time.Duration) {
	switch {
	case g.OK:
		return g.TTL, g.TTL
	case g.TTL < 0 || g.TTL > longestFairPause:
		return longestFairPause * 4 / 5, longestFairPause
	}
	pause := max(g.TTL, shortestFairPause)
	return pause, pause
}

// Force with the lock as its only key sends no message: the waiters notice when they look.
func (fair) Force(w *Want) Call {
	n := w.Names
	if w.KeyAlone {
		return Run(luasrc.SpinForceUnlock(n[keyName]), Never)
	}
	return Run(luasrc.FairForce(n[keyName], n[queueName], n[timesName], n[channelName], w.Publish), Never)
}

func (k fair) Ask(q Question, w *Want) Query {
	if q == Waiting {
		return Query{Read("LLEN", w.Names[queueName]), numbered(luasrc.DecodeLength)}
	}
	return k.reentrant.Ask(q, w)
}
