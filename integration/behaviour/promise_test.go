package behaviour_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/redisserver"
	"github.com/rlock-go/redisson/rlock"
)

// promises compares, again and again, what living holds of one key promise with what the server will do: no ValidUntil
// may lie beyond the key's end.
type promises struct {
	name    string
	conn    redis.Conn
	stop    chan struct{}
	ended   sync.WaitGroup
	samples int
	worst   time.Duration // the least that the server gave beyond a promise

	mu    sync.Mutex // guards holds, and is held during a sample: a promise is not withdrawn in the middle of one
	holds []*promise
}

// promise is one living hold's.
type promise struct {
	hold  *rlock.Hold
	until time.Time // the latest that it said: what it said once must stay true
}

// promisesOf samples until the test ends.
func promisesOf(r *rig, name string) *promises {
	p := &promises{name: name, conn: redisserver.Dial(r.T, r.Server), stop: make(chan struct{}), worst: time.Hour}
	p.ended.Go(func() {
		for {
			select {
			case <-p.stop:
				return
			case <-time.After(2 * time.Millisecond):
				p.sample(r.T)
			}
		}
	})
	r.Cleanup(func() { p.end(r.T) })
	return p
}

func (p *promises) sample(t *testing.T) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.holds) == 0 {
		return
	}
	var until time.Time
	for _, x := range p.holds {
		if err := x.hold.Err(); err != nil {
			t.Errorf("a hold that lives by the server's clock: %v", err)
		}
		x.until = later(x.until, x.hold.ValidUntil())
		until = later(until, x.until)
	}
	left, err := redis.Int(p.conn.Do("PTTL", p.name))
	if err != nil {
		t.Error(err)
		return
	}
	// The server counted no later than now, and in whole milliseconds.
	end := time.Now().Add(time.Duration(left+1) * time.Millisecond)
	p.samples++
	p.worst = min(p.worst, end.Sub(until))
	if left < 0 || end.Before(until) {
		t.Errorf("a hold promises %v beyond the key's end (PTTL %d)", until.Sub(end), left)
	}
}

// promised adds a hold.
func (p *promises) promised(h *rlock.Hold) *rlock.Hold {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.holds = append(p.holds, &promise{hold: h})
	return h
}

// withdrawn takes a hold out, before its promise ends or is made smaller on purpose.
func (p *promises) withdrawn(h *rlock.Hold) *rlock.Hold {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.holds = slices.DeleteFunc(p.holds, func(x *promise) bool { return x.hold == h })
	return h
}

func (p *promises) end(t *testing.T) {
	close(p.stop)
	p.ended.Wait()
	if p.samples < 20 {
		t.Errorf("only %d samples", p.samples)
	}
	t.Logf("%d samples, the server gave at least %v beyond what was promised", p.samples, p.worst)
}
