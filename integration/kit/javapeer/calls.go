package javapeer

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"
	"sync"
)

// maxLine is above the longest answer, which is that of a long Hammer.
const maxLine = 16 << 20

// calls matches answers to the requests that wait for them.
type calls struct {
	in io.Writer

	// writing keeps lines whole; it is apart from mu because a write to a paused
	// peer blocks when the pipe is full, and answers must still be taken in.
	writing sync.Mutex

	// mu guards what follows.
	mu      sync.Mutex
	last    uint64
	pending map[uint64]chan<- answer
	ended   error // set once: no answer will come any more
}

func newCalls(in io.Writer) *calls {
	return &calls{in: in, pending: map[uint64]chan<- answer{}}
}

// do blocks until the answer came, ctx ended or the peer is gone.
func (c *calls) do(ctx context.Context, command string, args ...string) (Reply, error) {
	if err := ctx.Err(); err != nil {
		return Reply{}, fmt.Errorf("javapeer: %s: %w", command, err)
	}
	// Room for one, so that an answer nobody waits for any more blocks no one.
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

// receive hands answers out until the stream ends or is not the protocol's. An
// id that is not pending belongs to a call that was given up.
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

// end answers all that wait, now and later, with err.
func (c *calls) end(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = err
	for id, answered := range c.pending {
		answered <- answer{err: fmt.Errorf("javapeer: %w", err)}
		delete(c.pending, id)
	}
}
