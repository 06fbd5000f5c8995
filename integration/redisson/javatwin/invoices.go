package main

import (
	"context"
	"errors"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

// the page: the object

// Invoices issues invoices; any number of servers do, in Java and in Go.
type Invoices struct {
	lock   *rlock.Lock
	ledger *Ledger
}

// NewInvoices does no I/O, as Java's constructor.
func NewInvoices(client *rlock.Client, ledger *Ledger) *Invoices {
	return &Invoices{lock: client.NewLock("invoices"), ledger: ledger}
}

// end

// the page: one invoice

// IssueNext issues one invoice. ErrLocked: the lock was busy for five
// seconds. ErrLeaseLost: the lock was lost meanwhile.
func (s *Invoices) IssueNext(ctx context.Context) (err error) {
	hold, err := s.lock.TryLockFor(ctx, 5*time.Second) // no Lease: the watchdog renews it
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, hold.Unlock(ctx)) }() // ErrLeaseLost if it was lost
	held, stop := hold.Context(ctx)                             // ends when the loss is known
	defer stop()

	number, err := s.NextNumber(held, rlock.As(hold.Owner()))
	if err != nil {
		return err
	}
	if err := s.ledger.Print(held, number); err != nil { // stops if the lock is lost
		return err
	}
	if mine, err := s.lock.IsHeldBy(held, hold.Owner()); err != nil { // asks Redis
		return err
	} else if !mine {
		return rlock.ErrLeaseLost
	}
	return s.ledger.Book(number)
}

// end

// the page: the nested method

// NextNumber takes a number. Credit notes take one outside IssueNext, so it
// locks by itself.
func (s *Invoices) NextNumber(ctx context.Context, opts ...rlock.AcquireOption) (number int64, err error) {
	hold, err := s.lock.Lock(ctx, opts...) // inside IssueNext, with As: the second hold of that owner
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, hold.Unlock(ctx)) }()
	last, err := s.ledger.Last()
	if err != nil {
		return 0, err
	}
	return last + 1, s.ledger.SetLast(last + 1)
}

// end

// the page: the night

// Night issues what it gets to issue until goal invoices are booked.
func (s *Invoices) Night(ctx context.Context, goal int) error {
	for {
		booked, err := s.ledger.Booked()
		if err != nil || booked >= goal {
			return err
		}
		switch err = s.IssueNext(ctx); {
		case errors.Is(err, rlock.ErrLocked):
			err = s.ledger.Note("busy")
		case errors.Is(err, rlock.ErrLeaseLost):
			err = s.ledger.Note("lost") // printed in part, not booked: for somebody to look at
		}
		if err != nil {
			return err
		}
		if err := s.ledger.Mail(ctx); err != nil { // without the lock
			return err
		}
	}
}

// end
