package observe

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// What one call keeps at most.
const (
	mostWakeUps = 1024
	mostSends   = 64
)

// Call is what happens in the name of one call, which tells it when it ends. A command may
// end later than that.
type Call struct {
	ctx  context.Context // of the call
	left atomic.Int32    // who referred to it, and does no more

	mu    sync.Mutex // guards what follows
	told  bool
	waits time.Time // when it began to wait for others; zero: it did not
	wakes []Wake
	sent  []Command
	room  [1]Command // for sent: most calls send one
}

// Begin begins one, of which nothing is known yet.
func (c *Call) Begin(ctx context.Context) { c.ctx = ctx }

// Left counts those that refer to it no more.
func (c *Call) Left() (so int32) { return c.left.Add(1) }

// Context is the call's; nobody's call has none of its own.
func (c *Call) Context() context.Context {
	if c == nil {
		return context.Background()
	}
	return c.ctx
}

// Sent keeps a command. It reports false if the call has ended.
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

// Waits keeps that it waits for others.
func (c *Call) Waits() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waits.IsZero() {
		c.waits = time.Now()
	}
}

// Woken keeps that it tries again, and by what.
func (c *Call) Woken(source string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.wakes) < mostWakeUps {
		c.wakes = append(c.wakes, Wake{Source: source, At: time.Now()})
	}
}

// Tell tells what was kept. Nothing more is kept.
func (c *Call) Tell(o Observer, s Subject) {
	if c == nil {
		return
	}
	c.mu.Lock()
	waits, wakes, sent := c.waits, c.wakes, c.sent
	c.told = true
	c.mu.Unlock()
	if !waits.IsZero() {
		o.Waiting(c.ctx, s, waits)
	}
	for _, w := range wakes {
		o.Woken(c.ctx, s, w)
	}
	for _, cmd := range sent {
		o.Command(c.ctx, cmd)
	}
}
