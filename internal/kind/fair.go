package kind

import (
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/luasrc"
)

// Fair is Redisson's RFairLock: a plain lock whose waiters stand in a list on the
// server, each with a channel of its own. The place of a waiter without a limit lasts
// for a wait that is given.
func Fair(wait time.Duration) Kind { return fair{wait: wait} }

type fair struct {
	reentrant
	wait time.Duration // Redisson's fairLockWaitTimeout
}

var fairTraits = Traits{
	Label:      FairLabel,
	Family:     ownedHash,
	Queue:      "fair",
	ByOwner:    true,
	Width:      1,
	KeyType:    "hash",
	Latched:    true,
	Keeps:      true,
	RenewGroup: ownedHash,
}

// What a fair lock has besides a plain one.
const (
	queueName = channelName + 1 + iota
	timesName
)

// The bounds of the pauses. A place is kept for longer than any of them.
const (
	shortestFairPause = 100 * time.Millisecond
	longestFairPause  = 5 * time.Second
)

func (fair) Traits() *Traits { return &fairTraits }

func (fair) Names(key string) Names {
	return Names{keyName: key, channelName: codec.Channel(key), queueName: codec.FairQueue(key), timesName: codec.FairTimes(key)}
}

func (fair) Channel(n *Names, o Owner) string { return codec.FairChannel(n.Key(), o.String()) }

// place is for how long w keeps a place in the queue, in ms. All commands of a waiter
// have the same, because what it added to the time of those behind it is subtracted
// again.
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
	return Run(luasrc.FairLock(room, n[keyName], n[queueName], n[timesName], n[channelName], w.Owner, w.Lease, k.place(w), once, w.Publish), Never)
}

func (fair) Release(room []any, w *Want) Call {
	n := w.Names
	if w.Keep.Millis > 0 {
		return Run(luasrc.FairKeep(room, n[keyName], n[queueName], n[timesName], w.Latch, n[channelName], w.Owner, w.Lease, w.LatchTTL, w.Keep.Owner, w.Keep.Millis, w.Publish), Always)
	}
	return Run(luasrc.FairUnlock(room, n[keyName], n[queueName], n[timesName], w.Latch, n[channelName], w.Owner, w.Lease, w.LatchTTL, w.Publish), Always)
}

// Leave leaves the queue. To leave it twice is as good as once.
func (k fair) Leave(all ...*Want) Call {
	n := all[0].Names
	return Run(luasrc.FairLeave(n[keyName], n[queueName], n[timesName], n[channelName], all[0].Publish, len(all), func(i int) (owner, wait Arg) {
		return all[i].Owner, k.place(all[i])
	}), Always)
}

// Pause is until the lease ends for the owner whose turn is next. The others are told
// when it is theirs. They look now and then whether somebody before them is gone, and the
// next few when the first place ends.
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

// Force with the lock as its only key tells nobody: who waits looks.
func (fair) Force(w *Want) Call {
	n := w.Names
	if w.KeyAlone {
		return Run(luasrc.SpinForceUnlock(n[keyName]), Never)
	}
	return Run(luasrc.FairForce(n[keyName], n[queueName], n[timesName], n[channelName], w.Publish), Never)
}

func (k fair) Ask(q Question, w *Want) Query {
	if q == Waiting {
		return Query{Read("LLEN", w.Names[queueName]), numbered(codec.DecodeLength)}
	}
	return k.reentrant.Ask(q, w)
}
