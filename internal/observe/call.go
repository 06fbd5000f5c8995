package observe

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// How many events one call keeps at most.
const (
	mostWakeUps = 1024
	mostSends   = 64
)

// Call keeps the events of one call until that ends and reports them. A command of the
// call may end later.
type Call struct {
	ctx  context.Context // of the call
	left atomic.Int32    // references that were dropped

	mu    sync.Mutex // guards what follows
	told  bool
	waits time.Time // when it began to wait for others; zero: it did not
	wakes []Wake
	sent  []Command
	room  [1]Command // for sent: most calls send one
}

// Begin sets the context of a zero Call.
func (c *Call) Begin(ctx context.Context) { c.ctx = ctx }

// Left counts a reference that is dropped, and returns how many were so far.
func (c *Call) Left() (so int32) { return c.left.Add(1) }

// Context returns the call's context, of a nil Call context.Background().
func (c *Call) Context() context.Context {
	if c == nil {
		return context.Background()
	}
	return c.ctx
}

// Sent keeps a command. It reports false, and keeps nothing, if Tell was called.
func (c *Call) Sent(cmd Command) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.told && len(c.sent) < mostSends {
		if c.sent == nil {
			c.sent = c.room[:0]
		}
		c.sent = append(c.sent, cmd)
	}
	return !c.told
}

// Waits records that the call waits for others, and since when.
func (c *Call) Waits() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waits.IsZero() {
		c.waits = time.Now()
	}
}

// Woken records that the call tries again, and what woke it.
func (c *Call) Woken(source string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.wakes) < mostWakeUps {
		c.wakes = append(c.wakes, Wake{Source: source, At: time.Now()})
	}
}

// Tell reports the events to o. After that no more are kept.
func (c *Call) Tell(o Observer, s Subject) {
	if c == nil {
		return
	}
	c.mu.Lock()
	waits, wakes, sent := c.waits, c.wakes, c.sent
	c.told = true
	c.mu.Unlock()
	if !waits.IsZero() {
		o.Tell(Event{Of: CallWaited, Ctx: c.ctx, Subject: s, At: waits})
	}
	for _, w := range wakes {
		o.Tell(Event{Of: CallWoken, Ctx: c.ctx, Subject: s, How: w.Source, At: w.At})
	}
	for _, cmd := range sent {
		o.Tell(Event{Of: CommandSent, Ctx: c.ctx, Command: cmd})
	}
}
