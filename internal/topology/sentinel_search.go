package topology

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/clock"
	"github.com/rlock-go/redisson/internal/redisconn"
)

// lookAtLeast is the longest time without a look at the Sentinels: a message may have
// been lost, and there may be new Sentinels.
const lookAtLeast = 30 * time.Second

// dial asks the Sentinels for the master and connects to it. ctx must have a deadline.
func (t *Sentinel) dial(ctx context.Context) (redis.Conn, error) {
	t.listen()
	addr, err := t.locate(ctx)
	if err != nil {
		return nil, err
	}
	return t.reach(ctx, addr, func() error {
		t.mu.Lock()
		defer t.mu.Unlock()
		if !slices.Contains(t.choice.master.names, addr) {
			return errLeft
		}
		return nil
	})
}

// locate asks the Sentinels for the master, and leaves the former one if they name
// another.
func (t *Sentinel) locate(ctx context.Context) (addr string, err error) {
	said := t.askAll(ctx, true)
	now := time.Now()
	t.mu.Lock()
	best, err := t.choice.believes(said, existing(said, len(t.sentinels)), now)
	err = t.turnedAway(said, err)
	var former master
	if err == nil {
		former = t.choice.believe(best, now)
		// The replicas that it is taken to have at first are those that are not down. If all are down
		// and no majority of the Sentinels answers, they count: they may be reachable for the other
		// Sentinels, and one of them the next master. A client that was there before waits for them too.
		t.known = best.known // also if there is another master before the first connection
		if len(best.known) == 0 && 2*voices(said) <= existing(said, len(t.sentinels)) {
			t.known = best.down
		}
	}
	t.mu.Unlock()
	t.meet(said)
	if err == nil {
		if after := best.downAfter; after > 0 && after+electsFor > t.s.Lease*13/20 { // a hold survives an outage of 0.65 of its lease
			t.warned.Do(func() { t.s.Log.FailoverTooSlow(best.from, after, t.s.Lease) })
		}
		t.node.List(len(best.known))
	}
	if former.names != nil {
		t.move(former.names, best.master, best.from, errLeft)
	}
	return best.master, err
}

// turnedAway makes err, the reason why no Sentinel is believed, permanent if Open should
// return it at once. That is so if none was ever believed, and all that answered refused
// twice; the second time with credentials that were asked for again. It is called with
// mu held.
func (t *Sentinel) turnedAway(said []testimony, err error) error {
	silence, silent := errors.AsType[*silenceError](err)
	if !silent || !t.choice.seen.IsZero() {
		return err
	}
	answered := false
	for _, one := range said {
		if r, ok := redisconn.RefusalOf(one.err); ok {
			if answered = true; !r.OfConnection() {
				return err
			}
		}
	}
	if answered {
		t.turned++
	}
	silence.passes = silence.passes && t.turned < 2
	return silence
}

// listen subscribes at all known Sentinels when the first connection is needed.
func (t *Sentinel) listen() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.begun || t.life.Err() != nil {
		return
	}
	t.begun = true
	for _, p := range t.sentinels {
		p.listen()
	}
	t.tasks.Go(t.look)
}

// look asks the Sentinels when one has announced something, and from time to time.
// Several announce the same, so a pause follows each round.
func (t *Sentinel) look() {
	const pause = 100 * time.Millisecond
	for on := true; on; on = clock.Sleep(t.life, pause) {
		select {
		case <-t.news:
		case <-time.After(t.lookAtLeast/2 + rand.N(t.lookAtLeast/2)):
		case <-t.life.Done():
			return
		}
		ctx, cancel := context.WithTimeout(t.life, t.s.Timeout)
		// A connection that can't be made for this error reports it.
		_, _ = t.locate(ctx)
		cancel()
	}
}
