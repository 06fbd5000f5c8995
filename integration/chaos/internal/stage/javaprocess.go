package stage

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rlock-go/redisson/integration/chaos/internal/history"
	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/integration/kit/machineclock"
)

// javaTimeout is Redisson's command timeout. On a loaded machine a JVM needs more time than a Go process.
const javaTimeout = 500 * time.Millisecond

// startsWithin is how long a JVM may take to start: longer than a failover that other faults delay.
const startsWithin = 2 * time.Minute

// javaProcess is a JVM and its successors.
type javaProcess struct {
	stage *Stage
	row   int
	way
	workers  sync.WaitGroup
	stopping chan struct{}
	ops      atomic.Int64

	mu   sync.Mutex // guards what follows, and is held for the whole of a start or end
	life int
	run  *javaRun // nil while there is none
}

// javaRun is one life of a JVM.
type javaRun struct {
	id   history.Process
	peer *javapeer.Peer

	mu      sync.Mutex // guards what follows
	threads int        // made so far
	busy    map[*javaThread]bool
}

func (j *javaProcess) start() {
	j.mu.Lock()
	j.stopping = make(chan struct{})
	j.comeUpLocked()
	j.mu.Unlock()
	for i := range j.stage.Workers {
		rng := rand.New(rand.NewPCG(j.stage.Seed, uint64(1000*(j.row+1)+i)))
		j.workers.Go(func() { (&javaWorker{j, i, rng}).loop() })
	}
	j.workers.Go(j.tick)
}

// comeUpLocked starts a JVM, and retries for startsWithin. On a loaded machine, or because of other faults, its first
// connection may exceed the command timeout; and Redisson does not start on a cluster without one of its masters.
func (j *javaProcess) comeUpLocked() {
	began := time.Now()
	for {
		err := j.startLocked()
		if err == nil {
			return
		}
		if time.Since(began) > startsWithin {
			j.stage.fail("Java%d: not within %v: %v", j.row, startsWithin, err)
			return
		}
	}
}

func (j *javaProcess) startLocked() error {
	s := j.stage
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	opts := []javapeer.Option{javapeer.WatchdogTimeout(s.Watchdog), javapeer.CommandTimeout(javaTimeout), javapeer.RetryAttempts(1)}
	if s.Place > 0 {
		opts = append(opts, javapeer.Setting("fairLockWaitTimeout", strconv.FormatInt(s.Place.Milliseconds(), 10)))
	}
	peer, err := javapeer.Launch(ctx, javapeer.Newest, j.url, opts...)
	if err != nil {
		return err
	}
	j.life++
	j.run = &javaRun{
		id: history.Process{Side: history.Java, Row: j.row, Life: j.life}, peer: peer, busy: map[*javaThread]bool{},
	}
	s.Book.Begin(j.run.id)
	return nil
}

// made reports whether the live JVM is the client of that id.
func (j *javaProcess) made(client string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.run != nil && j.run.peer.ID == client
}

// tick reports that all calls of a second ago are in the book.
func (j *javaProcess) tick() {
	const each, ago = 200 * time.Millisecond, time.Second
	for {
		select {
		case <-j.stopping:
			return
		case <-time.After(each):
		}
		if r := j.current(); r != nil {
			j.stage.Book.Add(r.id, history.Event{At: machineclock.Now() - ago.Nanoseconds(), What: history.Tick})
		}
	}
}

func (j *javaProcess) current() *javaRun {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.run
}

// kill ends the JVM as a crash would and starts the next.
func (j *javaProcess) kill() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.endLocked((*javapeer.Peer).Kill)
	j.comeUpLocked()
}

func (j *javaProcess) endLocked(how func(*javapeer.Peer)) {
	if j.run == nil {
		return
	}
	how(j.run.peer)
	j.stage.Book.End(j.run.id)
	j.run = nil
}

func (j *javaProcess) stop(d time.Duration) {
	r := j.current()
	if r == nil {
		return
	}
	err := r.peer.Pause()
	time.Sleep(d)
	err = errors.Join(err, r.peer.Resume())
	// On a slow machine a kill may come meanwhile.
	if err != nil && j.current() == r {
		j.stage.fail("%v: %v", r.id, err)
	}
}

// cancel interrupts every thread that runs something.
func (j *javaProcess) cancel() {
	r := j.current()
	if r == nil || j.stage.Kind.Several { // see together
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for t := range r.busy {
		go t.Interrupt(context.Background())
	}
}

// quiet lets the workers finish and waits for them.
func (j *javaProcess) quiet() {
	close(j.stopping)
	done := make(chan struct{})
	go func() { j.workers.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(patience):
		j.stage.fail("Java%d: its threads did not come to an end within %v", j.row, patience)
	}
}

func (j *javaProcess) end() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.endLocked(func(p *javapeer.Peer) {
		if err := p.Quit(); err != nil {
			j.stage.Logf("Java%d: %v", j.row, err)
		}
	})
}

// javaThread is a thread with its name as an owner.
type javaThread struct {
	*javapeer.Thread
	owner string
	place string // the owner's name on the server, if it was asked for
}

// thread returns a new thread.
func (r *javaRun) thread() *javaThread {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.threads++
	name := fmt.Sprintf("t%d", r.threads)
	return &javaThread{Thread: r.peer.Thread(name), owner: r.peer.ID + ":" + name}
}

func (r *javaRun) working(t *javaThread, on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if on {
		r.busy[t] = true
	} else {
		delete(r.busy, t)
	}
}

// exception returns the class's name without its package, and whether the thread can go on because no command is pending.
func exception(err error) (name string, clean bool) {
	e, ok := errors.AsType[*javapeer.JavaError](err)
	switch {
	case errors.Is(err, javapeer.ErrGone):
		return "process gone", false
	case !ok:
		return "no answer from Java", false
	}
	name = e.Class[strings.LastIndexByte(e.Class, '.')+1:]
	return name, name == "IllegalMonitorStateException"
}
