package locks

import (
	"context"
	"errors"
	"time"
)

// errUnanswered is why a waiter that makes one attempt stops waiting for its answer.
var errUnanswered = errors.New("no answer in time")

// Await blocks until the wait of w has ended. It returns early with ctx's error, with the
// error of Lock.Taken when Terms.Wait has elapsed, or with errUnanswered when a waiter that
// makes one attempt has had no answer for Executor.OneSend.
func (w *Waiter) Await(ctx context.Context) error {
	var elapsed <-chan time.Time
	why := errUnanswered
	switch wait := w.Terms.Wait; {
	case w.OneTry:
		// The attempt may first wait for a connection, for the WAIT of others, or for the node
		// that serves its slot, each for a command timeout. The call must not take their sum.
		defer w.patience().Stop()
		elapsed = w.patient.C
	case wait > 0:
		elapsed, why = time.After(wait), w.l.Taken()
	case ctx.Done() == nil:
		<-w.ready
		return nil
	}
	select {
	case <-w.ready:
		// Both may have happened.
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	case <-elapsed:
		return why
	}
}

// patience starts the timer of a waiter that makes one attempt.
func (w *Waiter) patience() *time.Timer {
	c := w.l.Client
	if d := c.exec.OneSend(c.Replicas); w.patient == nil {
		w.patient = time.NewTimer(d)
	} else {
		w.patient.Reset(d)
	}
	return w.patient
}
