package redisconn

import (
	"context"
	"errors"
	"time"

	"github.com/gomodule/redigo/redis"
)

// maxStale is how many unusable connections in a row are blamed on the pool, not on
// the server: after a restart all its idle connections are dead.
const maxStale = 16

// Link makes the connections of one user, the pipeline or the hub, one after the other. It
// dials them, limits the time of each dial, and spaces the attempts. One goroutine at a
// time may use it; any may signal Retried.
type Link struct {
	Pause   time.Duration // between the last attempt, or the last connection, and the next
	Retried chan struct{} // a clock.Signal of it ends the pause, or who waits for it, because there may be another server by now

	dial    func(context.Context) (redis.Conn, error)
	timeout time.Duration
	backoff Backoff
	began   time.Time // when the pause began
	stale   int       // moot failures in a row
}

// NewLink makes a Link whose attempts may take timeout each. A dial that takes longer is
// abandoned, see late.go.
func NewLink(dial func(context.Context) (redis.Conn, error), timeout time.Duration, pauses Backoff) *Link {
	var p punctual[redis.Conn]
	inTime := func(ctx context.Context) (redis.Conn, error) {
		c, err := p.dial(ctx, "", dial)
		return c, OwnDeadline(err)
	}
	return &Link{dial: inTime, timeout: timeout, backoff: pauses, Retried: make(chan struct{}, 1)}
}

// Await waits for the rest of the pause. It reports false when life ends.
func (l *Link) Await(life context.Context) bool {
	if rest := time.Until(l.began.Add(l.Pause)); rest > 0 {
		select {
		case <-time.After(rest):
		case <-l.Retried: // another server has not failed
			l.Worked()
		case <-life.Done():
		}
	}
	return life.Err() == nil
}

// Open makes a connection and calls greet for the first exchange on it. The end of life
// ends both. A moot error is about a connection from a pool, and says nothing about the
// server: the next attempt follows at once. After any other error it follows a pause.
func (l *Link) Open(life context.Context, greet func(*Owned) error) (o *Owned, moot bool, err error) {
	select {
	case <-l.Retried: // signalled before this attempt, which may find the new server
	default:
	}
	ctx, cancel := context.WithTimeout(life, l.timeout)
	defer cancel()
	c, err := l.dial(ctx)
	if err != nil {
		return nil, l.Failed(false), err
	}
	o = &Owned{Conn: c}
	defer context.AfterFunc(life, o.Interrupt)() // a silent server must not delay the end
	if err = greet(o); err != nil {
		// A pool lends connections to a former master while they work.
		_, replica := errors.AsType[*ReplicaError](err)
		moot = l.Failed(!o.Dialled() && (replica || dead(err)))
		o.Release()
		return nil, moot, err
	}
	return o, false, nil
}

// Failed records a failure. Await then pauses before the next attempt, each time longer,
// but not after up to 16 moot failures in a row. Failed reports whether this one is moot.
func (l *Link) Failed(moot bool) bool {
	if moot && l.stale < maxStale {
		l.stale++
		l.Pause = 0
		return true
	}
	l.Pause, l.began = l.backoff.Next(), time.Now()
	return false
}

// Worked records a success: the next attempt follows at once, and pauses start short again.
func (l *Link) Worked() {
	l.backoff.Reset()
	l.Pause, l.stale = 0, 0
}
