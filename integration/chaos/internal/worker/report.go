package worker

import (
	"bytes"
	"encoding/json"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rlock-go/redisson/integration/chaos/internal/history"
	"github.com/rlock-go/redisson/integration/kit/machineclock"
)

type report struct {
	ops   atomic.Int64
	clock machineclock.Clock

	mu  sync.Mutex // keeps lines whole and calls in the order of their instants; guards what follows
	out io.Writer
	buf bytes.Buffer
	enc *json.Encoder
}

func newReport(out io.Writer) *report {
	r := &report{clock: machineclock.New(), out: out}
	r.enc = json.NewEncoder(&r.buf)
	return r
}

func (r *report) say(e history.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e.At == 0 {
		e.At = machineclock.Now()
	}
	r.buf.Reset()
	if err := r.enc.Encode(e); err != nil {
		panic(err)
	}
	// If the parent has ended, so has standard input, and that ends this process.
	_, _ = r.out.Write(r.buf.Bytes())
}

// tickEvery is how often a process shows that it lives.
const tickEvery = 200 * time.Millisecond

// tick shows that the process lives until stop is closed.
func (r *report) tick(stop <-chan struct{}) {
	t := time.NewTicker(tickEvery)
	defer t.Stop()
	for {
		select {
		case <-stop:
			return
		case <-t.C:
			r.say(history.Event{What: history.Tick})
		}
	}
}
