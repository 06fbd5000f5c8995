package worker

import (
	"bufio"
	"context"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rlock-go/redisson/integration/torture/internal/history"
	"github.com/rlock-go/redisson/integration/torture/internal/kind"
	"github.com/rlock-go/redisson/rlock"
)

// patience bounds what has to happen in the end; a loaded machine may need seconds for what takes milliseconds.
const patience = 20 * time.Second

// process is one worker process.
type process struct {
	Config
	*report
	client *rlock.Client
	kind   kind.Kind
	locks  [][]*rlock.Lock          // by name and part of the kind
	seats  []*rlock.PermitSemaphore // by name, of permits

	stopping chan struct{}
	storm    atomic.Pointer[storm]
}

// storm is a context that an order cancels.
type storm struct {
	ctx    context.Context
	cancel context.CancelFunc
}

func newStorm() *storm {
	ctx, cancel := context.WithCancel(context.Background())
	return &storm{ctx, cancel}
}

func run(c Config) error {
	if c.Tunnel {
		c.CommandTimeout = max(c.CommandTimeout, patient)
	}
	p := &process{Config: c, report: newReport(os.Stdout), stopping: make(chan struct{})}
	p.kind, _ = kind.Named(c.Kind)
	p.storm.Store(newStorm())
	closing := make(chan struct{})
	orders := make(chan struct{})
	go p.obey(closing, orders)
	<-orders // the goroutine is one of those that were there before
	before := runtime.NumGoroutine()

	quiet := make(chan struct{})
	var ticking sync.WaitGroup
	ticking.Go(func() { p.tick(quiet) })
	if err := p.open(); err != nil {
		return err
	}
	for _, name := range c.Locks {
		if p.kind.Rounds() > 0 {
			break // a handle is for one
		}
		var parts []*rlock.Lock
		for _, part := range p.kind.Parts {
			parts = append(parts, part.GoLock(p.client, name))
		}
		p.locks = append(p.locks, parts)
		if p.kind.Permits > 0 {
			p.seats = append(p.seats, p.client.NewPermitSemaphore(name))
		}
	}
	p.say(history.Event{What: history.Ready, Owner: p.client.ID().String()})
	var workers sync.WaitGroup
	for i := range c.Workers {
		w := &worker{process: p, number: i, rng: rand.New(rand.NewPCG(c.Seed, uint64(i)))}
		workers.Go(w.run)
	}
	workers.Wait()
	p.say(history.Event{What: history.Idle})
	<-closing
	if err := p.client.Close(); err != nil {
		return err
	}
	close(quiet)
	ticking.Wait()
	left, stacks := leftover(before)
	p.say(history.Event{What: history.Closed, Goroutines: left, Text: stacks})
	return nil
}

// open connects, in spite of faults that are on already.
func (p *process) open() error {
	for end := time.Now().Add(patience); ; {
		var err error
		opts := []rlock.Option{rlock.WithWatchdogTimeout(p.Watchdog), rlock.WithCommandTimeout(p.CommandTimeout), rlock.WithReplicaSync(p.ReplicaSync)}
		if p.Place > 0 {
			opts = append(opts, rlock.WithFairWait(p.Place))
		}
		if p.Tunnel {
			opts = append(opts, rlock.WithDialer(dialTunnel))
		}
		p.client, err = rlock.Open(context.Background(), p.URL, opts...)
		if err == nil || time.Now().After(end) {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// obey carries orders out until standard input ends, and the process with it.
func (p *process) obey(closing, ready chan struct{}) {
	close(ready)
	orders := bufio.NewScanner(os.Stdin)
	for orders.Scan() {
		switch orders.Text() {
		case "cancel":
			p.storm.Swap(newStorm()).cancel()
		case "stop":
			close(p.stopping)
		case "close":
			close(closing)
		}
	}
	os.Exit(3)
}

// leftover is how many goroutines are more than before, and their stacks. Some end a moment after what they served.
func leftover(before int) (int, string) {
	for end := time.Now().Add(2 * time.Second); ; {
		more := runtime.NumGoroutine() - before
		if more <= 0 {
			return 0, ""
		}
		if time.Now().After(end) {
			buf := make([]byte, 64<<10)
			return more, string(buf[:runtime.Stack(buf, true)])
		}
		time.Sleep(5 * time.Millisecond)
	}
}
