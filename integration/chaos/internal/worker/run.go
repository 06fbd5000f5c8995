package worker

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/chaos/internal/history"
	"github.com/rlock-go/redisson/integration/chaos/internal/kind"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/testkit/stalls"
	"github.com/rlock-go/redisson/rlock"
)

// patience bounds the wait for what must happen: a loaded machine may need seconds for what takes milliseconds.
const patience = 20 * time.Second

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
	defer stalls.Watch()()
	p := &process{Config: c, report: newReport(os.Stdout), stopping: make(chan struct{})}
	p.kind, _ = kind.Named(c.Kind)
	p.storm.Store(newStorm())
	closing := make(chan struct{})
	orders := make(chan struct{})
	go p.obey(closing, orders)
	<-orders // before counts its goroutine
	before := runtime.NumGoroutine()

	quiet := make(chan struct{})
	var ticking sync.WaitGroup
	ticking.Go(func() { p.tick(quiet) })
	if err := p.open(); err != nil {
		return err
	}
	for _, name := range c.Locks {
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
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := p.client.Shutdown(ctx); err != nil { // nothing is held
		return err
	}
	close(quiet)
	ticking.Wait()
	left, stacks := leftover(before)
	p.say(history.Event{What: history.Closed, Goroutines: left, Text: stacks})
	return nil
}

// open connects. It retries, because faults may be in force already.
func (p *process) open() (err error) {
	testbed.Within(patience, func() bool {
		opts := []rlock.Option{rlock.WithWatchdogTimeout(p.Watchdog), rlock.WithCommandTimeout(p.CommandTimeout), rlock.WithReplicaSync(p.ReplicaSync)}
		if p.Place > 0 {
			opts = append(opts, rlock.WithFairWait(p.Place))
		}
		if p.Pooled {
			p.client, err = rlock.New(p.pool(), opts...)
		} else {
			p.client, err = rlock.Open(context.Background(), p.URL, opts...)
		}
		return err == nil
	})
	return err
}

// pool returns a caller's pool. About half of its connections come with a reply that nobody has read.
func (p *process) pool() *redis.Pool {
	u, err := url.Parse(p.URL)
	if err != nil {
		panic(err)
	}
	const patience = 10 * time.Second
	return &redis.Pool{MaxIdle: 4, Dial: func() (redis.Conn, error) {
		c, err := redis.Dial("tcp", u.Host, redis.DialClientName("rlock"), redis.DialConnectTimeout(patience), redis.DialReadTimeout(patience), redis.DialWriteTimeout(patience))
		if err == nil && rand.IntN(2) == 0 {
			err = errors.Join(c.Send("CLIENT", "ID"), c.Flush())
		}
		return c, err
	}}
}

// obey carries out orders until standard input ends, and then ends the process.
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

// leftover returns how many more goroutines there are than before, and all stacks. Some end a moment after their work.
func leftover(before int) (more int, stacks string) {
	if testbed.Within(2*time.Second, func() bool { more = runtime.NumGoroutine() - before; return more <= 0 }) {
		return 0, ""
	}
	buf := make([]byte, 64<<10)
	return more, string(buf[:runtime.Stack(buf, true)])
}

// Word is the first argument that makes a binary a worker.
const Word = "worker"

// Config is the second argument of a worker process, as JSON.
type Config struct {
	URL            string
	Kind           string // of all locks
	Locks          []string
	Began          int64 // when the run began
	Workers        int
	Seed           uint64
	Watchdog       time.Duration
	CommandTimeout time.Duration
	Place          time.Duration // how long a waiter of a queue keeps its place; 0 without a queue
	Alone          bool          // there is one server, without replicas: calls end in their documented time
	Pooled         bool          // it uses a caller's pool
	ReplicaSync    bool          // it waits for replicas
}

// Args returns the arguments that start a worker process.
func (c Config) Args() ([]string, error) {
	text, err := json.Marshal(c)
	return []string{Word, string(text)}, err
}

// RunIfAsked runs a worker and then ends the process, if the process's arguments say so. Otherwise it returns.
func RunIfAsked() {
	if len(os.Args) != 3 || os.Args[1] != Word {
		return
	}
	var c Config
	err := json.Unmarshal([]byte(os.Args[2]), &c)
	if err == nil {
		err = run(c)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(1)
	}
	os.Exit(0)
}
