package main

import (
	"context"
	"errors"
	"time"

	"github.com/gomodule/redigo/redis"
)

const side = "go"

// Ledger is the books in Redis, with a log of which side used them when. Only the lock makes them safe.
type Ledger struct {
	pool     *redis.Pool
	printing time.Duration
	mailing  time.Duration
}

// NewLedger makes a ledger on the server at url. The caller must call Close.
func NewLedger(url string, printing, mailing time.Duration) *Ledger {
	dial := func(ctx context.Context) (redis.Conn, error) {
		return redis.DialURLContext(ctx, url, redis.DialReadTimeout(5*time.Second), redis.DialWriteTimeout(5*time.Second))
	}
	return &Ledger{pool: &redis.Pool{DialContext: dial, MaxIdle: 2}, printing: printing, mailing: mailing}
}

// Close closes its connections.
func (l *Ledger) Close() error { return l.pool.Close() }

// Last is the last number that was taken.
func (l *Ledger) Last() (int64, error) {
	n, err := redis.Int64(l.do("GET", "ledger:last"))
	if errors.Is(err, redis.ErrNil) {
		return 0, nil
	}
	return n, err
}

// SetLast stores the last number that was taken.
func (l *Ledger) SetLast(number int64) error {
	_, err := l.do("SET", "ledger:last", number)
	return err
}

// Print prints one invoice, or stops when ctx ends and returns the cause. It logs when it began, which side it found
// inside, and when it ended.
func (l *Ledger) Print(ctx context.Context, number int64) error {
	found, err := redis.String(l.do("GETSET", "ledger:inside", side))
	if err != nil && !errors.Is(err, redis.ErrNil) {
		return err
	}
	if err := l.note("in", number, found); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		return errors.Join(context.Cause(ctx), l.note("stopped", number, ""))
	case <-time.After(l.printing):
	}
	if _, err := l.do("DEL", "ledger:inside"); err != nil {
		return err
	}
	return l.note("out", number, "")
}

// Book puts a printed invoice into the books.
func (l *Ledger) Book(number int64) error {
	_, err := l.do("RPUSH", "ledger:booked", number)
	return err
}

// Booked is how many invoices are in the books.
func (l *Ledger) Booked() (int, error) { return redis.Int(l.do("LLEN", "ledger:booked")) }

// Mail mails something, which needs no lock. When ctx ends first, it returns the cause.
func (l *Ledger) Mail(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(l.mailing):
	}
	return l.Note("mailed")
}

// Note puts an event into the log.
func (l *Ledger) Note(event string) error { return l.note(event, 0, "") }

func (l *Ledger) note(event string, number int64, found string) error {
	_, err := l.do("XADD", "ledger:log", "*", "side", side, "event", event, "number", number, "found", found)
	return err
}

func (l *Ledger) do(command string, args ...any) (any, error) {
	conn := l.pool.Get()
	defer conn.Close()
	return conn.Do(command, args...)
}
