package javapeer

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"
	"sync"
)

// maxLine is longer than the longest reply, that of a long Hammer.
const maxLine = 16 << 20

// calls matches replies to the requests that wait for them.
type calls struct {
	in io.Writer

	// writing keeps lines whole. It is not mu: a write to a paused peer blocks once the pipe is full, and replies must
	// still be read then.
	writing sync.Mutex

	// guards the fields below
	mu      sync.Mutex
	last    uint64
	pending map[uint64]chan<- answer
	ended   error // set once: no reply will come after it
}

func newCalls(in io.Writer) *calls {
	return &calls{in: in, pending: map[uint64]chan<- answer{}}
}

// do blocks until the reply comes, ctx ends or the peer is gone.
func (c *calls) do(ctx context.Context, command string, args ...string) (Reply, error) {
	if err := ctx.Err(); err != nil {
		return Reply{}, fmt.Errorf("javapeer: %s: %w", command, err)
	}
	// Buffered, so that the reply to an abandoned call blocks nothing.
	answered := make(chan answer, 1)
	id, err := c.register(answered)
	if err != nil {
		return Reply{}, fmt.Errorf("javapeer: %s: %w", command, err)
	}
	line := strconv.FormatUint(id, 10) + " " + command + encode(args) + "\n"
	c.writing.Lock()
	_, err = io.WriteString(c.in, line)
	c.writing.Unlock()
	if err != nil {
		c.forget(id)
		return Reply{}, fmt.Errorf("javapeer: %s: %w: %w", command, ErrGone, err)
	}
	select {
	case a := <-answered:
		return a.reply, a.err
	case <-ctx.Done():
		c.forget(id)
		return Reply{}, fmt.Errorf("javapeer: %s: %w", command, ctx.Err())
	}
}

func (c *calls) register(answered chan<- answer) (uint64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended != nil {
		return 0, c.ended
	}
	c.last++
	c.pending[c.last] = answered
	return c.last, nil
}

func (c *calls) forget(id uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pending, id)
}

// receive hands out replies until the stream ends or breaks the protocol. An id that is not pending belongs to an
// abandoned call.
func (c *calls) receive(lines *bufio.Scanner) error {
	for lines.Scan() {
		a, err := parseAnswer(lines.Text())
		if err != nil {
			return err
		}
		c.mu.Lock()
		answered := c.pending[a.id]
		delete(c.pending, a.id)
		c.mu.Unlock()
		if answered != nil {
			answered <- a
		}
	}
	return lines.Err()
}

// end fails all calls, pending and future, with err.
func (c *calls) end(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = err
	for id, answered := range c.pending {
		answered <- answer{err: fmt.Errorf("javapeer: %w", err)}
		delete(c.pending, id)
	}
}
