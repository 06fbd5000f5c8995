package topology

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/background"
	"github.com/rlock-go/redisson/internal/redisconn"
	"github.com/rlock-go/redisson/internal/refusal"
)

// lookAtLeast is how often the Sentinels are asked when they tell nothing: for
// a message that was lost, and for Sentinels that are new.
const lookAtLeast = 30 * time.Second

// dial asks the Sentinels for the master and connects to it; ctx has a deadline.
func (t *Sentinel) dial(ctx context.Context) (redis.Conn, error) {
	t.listen()
	addr, err := t.locate(ctx)
	if err != nil {
		return nil, err
	}
	target, _ := t.nodesAt.LoadOrStore(addr, t.u.Target.At(addr))
	conn, err := target.(*redisconn.Target).Dial(ctx, t.s.Timeout)
	if err != nil {
		return nil, err
	}
	// Only now: a connection that is open is ended by whoever leaves the master.
	t.mu.Lock()
	if !slices.Contains(t.choice.master.names, addr) {
		err = errLeft
	}
	t.mu.Unlock()
	if err == nil {
		err = checkRole(ctx, conn)
	}
	if err != nil {
		conn.(interface{ Interrupt() }).Interrupt()
		_ = conn.Close() // the error is the one that counts
		return nil, fmt.Errorf("connect to %s: %w", addr, err)
	}
	return conn, nil
}

// locate asks the Sentinels and takes over what they say.
func (t *Sentinel) locate(ctx context.Context) (addr string, err error) {
	said := t.askAll(ctx)
	now := time.Now()
	t.mu.Lock()
	best, err := t.choice.believes(said, existing(said, len(t.sentinels)), now)
	err = t.turnedAway(said, err)
	var former master
	if err == nil {
		if former = t.choice.believe(best, now); t.known == nil {
			t.known = t.first(best, said)
		}
	}
	t.mu.Unlock()
	t.meet(said)
	if err == nil {
		t.warn(best)
		t.node.List(len(best.known))
	}
	if former.names != nil {
		t.leave(former, best.master, best.from)
	}
	return best.master, err
}

// turnedAway makes err, why no Sentinel is believed, one for good if Open is to
// tell it at once: none has ever been believed, and all that answered refused, also
// the second time, when credentials have been asked for anew. It is called with mu
// held.
func (t *Sentinel) turnedAway(said []testimony, err error) error {
	silence, silent := errors.AsType[*silenceError](err)
	if !silent || !t.choice.seen.IsZero() {
		return err
	}
	answered := false
	for _, one := range said {
		if r, ok := refusal.Of(one.err); ok {
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

// listen subscribes to all that is known, once somebody needs a connection.
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

// look asks the Sentinels whenever there may be something new, and now and then.
// Several of them tell the same, so each answer is followed by a pause.
func (t *Sentinel) look() {
	const pause = 100 * time.Millisecond
	for on := true; on; on = background.Sleep(t.life, pause) {
		select {
		case <-t.news:
		case <-time.After(t.lookAtLeast/2 + rand.N(t.lookAtLeast/2)):
		case <-t.life.Done():
			return
		}
		ctx, cancel := context.WithTimeout(t.life, t.s.Timeout)
		// Trouble is told by the connections that can't be had for it.
		_, _ = t.locate(ctx)
		cancel()
	}
}
