package stage

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/rlock-go/redisson/integration/chaos/internal/history"
	"github.com/rlock-go/redisson/integration/chaos/internal/worker"
	"github.com/rlock-go/redisson/integration/kit/subprocess"
)

// patience bounds the wait for what must happen: a loaded machine may need seconds for what takes milliseconds.
const patience = 30 * time.Second

// goProcess is a worker process and its successors after SIGKILL.
type goProcess struct {
	stage *Stage
	row   int
	way

	mu   sync.Mutex // guards what follows, and is held for the whole of a start or end
	life int
	run  *goRun // nil while there is none
}

// goRun is one life of a worker process.
type goRun struct {
	id     history.Process
	cmd    *exec.Cmd
	in     io.WriteCloser
	stderr bytes.Buffer
	ready  chan struct{} // closed when it is connected
	client string        // the first half of its owners; set before ready is closed
	idle   chan struct{} // closed when its workers have finished
	gone   chan struct{} // closed when it has ended and all its events are in the book
	closed *history.Event
}

func (g *goProcess) start() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.startLocked()
}

func (g *goProcess) startLocked() {
	s := g.stage
	g.life++
	r := &goRun{
		id:    history.Process{Side: history.Go, Row: g.row, Life: g.life},
		ready: make(chan struct{}), idle: make(chan struct{}), gone: make(chan struct{}),
	}
	args, err := worker.Config{
		URL: g.url, Kind: s.Kind.Name, Locks: s.names(), Began: s.began, Workers: s.Workers,
		Seed:     s.Seed ^ uint64(g.row+1)<<32 ^ uint64(g.life)<<48,
		Watchdog: s.Watchdog, CommandTimeout: s.CommandTimeout, Place: s.Place,
		// One of three uses a pool, and one does not wait for replicas.
		Alone: s.set == nil, Pooled: s.set == nil && g.row%3 == 1, ReplicaSync: g.row%3 != 2,
	}.Args()
	if err != nil {
		panic(err)
	}
	binary, err := os.Executable()
	if err != nil {
		panic(err)
	}
	r.cmd = exec.Command(binary, args...)
	r.cmd.Stderr = &r.stderr
	s.Book.Begin(r.id)
	in, out, err := subprocess.Start(r.cmd, syscall.SIGKILL)
	if err != nil {
		s.Book.End(r.id)
		s.fail("%v: %v", r.id, err)
		return
	}
	r.in, g.run = in, r
	go g.listen(r, out)
}

// listen records the process's events until it ends.
func (g *goProcess) listen(r *goRun, out io.Reader) {
	defer close(r.gone)
	s := g.stage
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	broken := ""
	for lines.Scan() {
		var e history.Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			broken = lines.Text() // a kill may have cut it
			break
		}
		switch e.What {
		case history.Ready:
			r.client = e.Owner
			close(r.ready)
		case history.Idle:
			close(r.idle)
		case history.Closed:
			r.closed = &e
		default:
			s.Book.Add(r.id, e)
		}
	}
	io.Copy(io.Discard, out)
	err := r.cmd.Wait()
	s.Book.End(r.id)
	if state := r.cmd.ProcessState.Sys().(syscall.WaitStatus); state.Signaled() && state.Signal() == syscall.SIGKILL {
		return
	}
	if err != nil || r.stderr.Len() > 0 || broken != "" {
		s.fail("%v ended with %v and said %q, and on standard error:\n%s", r.id, err, broken, r.stderr.Bytes())
	}
}

// kill ends the process as a crash would and starts the next.
func (g *goProcess) kill() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.run == nil {
		return
	}
	g.run.cmd.Process.Signal(syscall.SIGKILL)
	<-g.run.gone
	g.run.in.Close()
	g.run = nil
	g.startLocked()
}

func (g *goProcess) stop(d time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.run == nil {
		return
	}
	g.run.cmd.Process.Signal(syscall.SIGSTOP)
	time.Sleep(d)
	g.run.cmd.Process.Signal(syscall.SIGCONT)
}

func (g *goProcess) cancel() { g.order("cancel") }

func (g *goProcess) order(word string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.run != nil {
		fmt.Fprintln(g.run.in, word)
	}
}

// await waits for the state and reports whether it came.
func (g *goProcess) await(what string, state func(*goRun) <-chan struct{}) bool {
	g.mu.Lock()
	r := g.run
	g.mu.Unlock()
	if r == nil {
		return false
	}
	select {
	case <-state(r):
		return true
	case <-r.gone:
		select {
		case <-state(r):
			return true
		default:
		}
		g.stage.fail("%v is gone before it was %s", r.id, what)
	case <-time.After(patience):
		// Its stacks show why.
		r.cmd.Process.Signal(syscall.SIGQUIT)
		<-r.gone
		g.stage.fail("%v was not %s within %v", r.id, what, patience)
	}
	return false
}

func (g *goProcess) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.run == nil {
		return
	}
	select {
	case <-g.run.gone:
	default:
		g.run.cmd.Process.Signal(syscall.SIGKILL)
		<-g.run.gone
	}
	g.run.in.Close()
	g.run = nil
}
