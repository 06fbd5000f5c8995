package faults

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/kit/subprocess"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

type process struct {
	r   *round
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func (r *round) spawn() *process {
	r.Helper()
	o, _ := json.Marshal(orders{URL: r.server.URL(), Name: r.name, Holds: r.row.batch, Lease: lease()})
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+string(o))
	in, out, err := subprocess.Start(cmd, syscall.SIGKILL)
	testbed.Must(r, err)
	p := &process{r: r, cmd: cmd, in: in, out: bufio.NewReader(out)}
	r.Cleanup(func() {
		in.Close()
		_ = cmd.Process.Signal(syscall.SIGCONT)
		ended := time.AfterFunc(soon, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait() // its exit says nothing that its reports do not
		ended.Stop()
	})
	if line, err := p.out.ReadString('\n'); line != "held\n" {
		r.Fatalf("the child said %q, %v", line, err)
	}
	return p
}

func (p *process) stop() {
	p.r.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		p.r.Fatal(err)
	}
	if !testbed.Within(soon, func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
		var pid int
		var name, state string
		_, serr := fmt.Sscan(string(stat), &pid, &name, &state)
		return err == nil && serr == nil && state == "T"
	}) {
		p.r.Fatal("the child does not stop")
	}
}

// goOn continues the process and returns the moment before.
func (p *process) goOn() time.Time {
	p.r.Helper()
	at := time.Now()
	if err := p.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		p.r.Fatal(err)
	}
	return at
}

// report sends an order and returns what the child saw, after its unlocks if the order is unlockOrder.
func (p *process) report(order string) (seen []sight) {
	p.r.Helper()
	fmt.Fprintln(p.in, order)
	line, err := p.out.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &seen)
	}
	if err != nil {
		p.r.Fatalf("the child said %q, %v", line, err)
	}
	return seen
}

// looks returns what the child saw, once it has checked all holds after since.
func (p *process) looks(since time.Time) (seen []sight) {
	p.r.Helper()
	testbed.Within(soon, func() bool {
		seen = p.report("look")
		return !slices.ContainsFunc(seen, func(s sight) bool { return s.LastValid.Before(since) && s.Ended.IsZero() })
	})
	return seen
}

func (r *round) ttl(name string) time.Duration {
	ms, err := redis.Int64(testbed.Do(r.T, r.direct, "PTTL", name), nil)
	testbed.Must(r, err)
	return time.Duration(ms) * time.Millisecond
}

func (r *round) at(name string) *rlock.Lock { return r.rival.NewLock(name) }

// shortPause: the process is stopped for half of its lease, and keeps its holds.
func shortPause(r *round) {
	p := r.spawn()
	p.stop()
	<-time.After(lease() / 2)
	from := p.goOn()
	name := func(i int) string { return fmt.Sprintf("%s-%d", r.name, i) }
	// The client makes up for the renewals that it missed.
	for i := range r.row.batch {
		if !testbed.Within(soon, func() bool { return r.ttl(name(i)) > lease()*6/10 }) {
			r.violates("%s is not renewed: %v left", name(i), r.ttl(name(i)))
			break // each of the rest would take as long
		}
	}
	r.row.took("renewed after waking", time.Since(from))
	for i, s := range p.looks(from) {
		if !s.Ended.IsZero() || s.LastValid.Before(from) {
			r.violates("%s: %+v, woken at %v", name(i), s, from)
		}
		if _, err := r.at(name(i)).TryLock(r.Context()); kindOf(err) != locked {
			r.violates("TryLock by another: %v", err)
		}
	}
	for _, s := range p.report(unlockOrder) {
		if s.Unlock != ok {
			r.violates("Unlock: %s", s.Unlock)
		}
		r.row.outcome("still held", 1)
	}
	r.row.counted(r.row.batch, -1)
}

// longPause: the process is stopped until others are inside. When it goes on, none of its holds may be valid.
func longPause(r *round) {
	p := r.spawn()
	p.stop()
	others := make([]*rlock.Hold, r.row.batch)
	entered := make([]time.Time, r.row.batch)
	// All begin to wait before the leases end, and enter only then.
	var all sync.WaitGroup
	for i := range others {
		l := r.at(fmt.Sprintf("%s-%d", r.name, i))
		all.Go(func() {
			var err error
			if others[i], err = l.Lock(r.Context()); err != nil {
				r.violates("a waiter: %v", err)
			}
			entered[i] = time.Now()
		})
	}
	all.Wait()
	if slices.Contains(others, nil) {
		r.FailNow()
	}
	from := p.goOn()
	for i, s := range p.looks(from) {
		switch {
		case s.LastValid.After(entered[i]) || s.LastValid.After(from):
			r.violates("Err was nil at %v, another is inside since %v, woken at %v", s.LastValid, entered[i], from)
		case s.Err != leaseLost || s.Revived || !s.Done:
			r.violates("after waking: %+v", s)
		}
		r.row.took("told after waking", s.Ended.Sub(from))
		r.row.outcome(s.Err+" at the first look", 1)
	}
	for i, s := range p.report(unlockOrder) {
		if s.Unlock != lostNotHeld {
			r.violates("Unlock of a lost hold: %s", s.Unlock)
		}
		owner := others[i].Owner()
		if n, err := r.at(others[i].Name()).HoldCount(r.Context(), owner); err != nil || n != 1 {
			r.violates("the other's hold after that: %d, %v", n, err)
		}
		r.release(others[i])
	}
	r.row.counted(r.row.batch, -1)
}

func pausesFor() []scenario {
	dog := []rlock.Option{rlock.WithWatchdogTimeout(lease())}
	return []scenario{
		{fault: "process stands still for half of its lease", by: "SIGSTOP, SIGCONT to a process with 20 holds", times: 100, batch: 20, lanes: 5,
			options: dog, inexact: true, parallel: true, round: shortPause},
		{fault: "process stands still for longer than its lease", by: "SIGSTOP, SIGCONT to a process with 20 holds", times: 100, batch: 20, lanes: 5,
			options: dog, inexact: true, parallel: true, round: longPause},
	}
}

// childEnv makes a process of this test binary a child, which is stopped and continued. Its value is the child's orders.
const childEnv = "RLOCK_FAULTS_CHILD"

// orders say which locks a child holds and keeps checking.
type orders struct {
	URL   string
	Name  string // of the locks, each with a number added
	Holds int
	Lease time.Duration
}

// sight is what a child saw of one of its holds.
type sight struct {
	Owner     string
	LastValid time.Time // the moment before the last check at which Err was nil
	Ended     time.Time // the moment after the first check at which it was not; zero for none
	Err       string    // its kind
	Revived   bool      // Err was nil after it had not been
	Done      bool      // Done is closed
	Unlock    string    // the kind of Unlock's error
}

// unlockOrder is the line that makes a child unlock, report and end. Any other line only asks for a report.
const unlockOrder = "unlock"

// child acquires its locks, prints a line, and then prints what it saw as a line of JSON for each line that it reads.
func child() int {
	fail := func(err error) int {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var o orders
	if err := json.Unmarshal([]byte(os.Getenv(childEnv)), &o); err != nil {
		return fail(err)
	}
	ctx := context.Background()
	c, err := rlock.Open(ctx, o.URL, rlock.WithCommandTimeout(timeout), rlock.WithWatchdogTimeout(o.Lease))
	if err != nil {
		return fail(err)
	}
	defer c.Close()
	holds := make([]*rlock.Hold, o.Holds)
	seen := make([]sight, o.Holds)
	for i := range holds {
		if holds[i], err = c.NewLock(fmt.Sprintf("%s-%d", o.Name, i)).Lock(ctx); err != nil {
			return fail(err)
		}
		seen[i].Owner = holds[i].Owner().String()
	}
	var mu sync.Mutex // guards seen
	stop := make(chan struct{})
	var looking sync.WaitGroup
	looking.Go(func() {
		// There is no pause between checks, so that this loop runs before any timer when a stopped process goes on.
		for {
			select {
			case <-stop:
				return
			default:
			}
			mu.Lock()
			for i, h := range holds {
				seen[i].look(h)
			}
			mu.Unlock()
			runtime.Gosched()
		}
	})
	fmt.Println("held")
	in := bufio.NewScanner(os.Stdin)
	for over := false; !over && in.Scan(); {
		mu.Lock()
		if over = in.Text() == unlockOrder; over {
			for i, h := range holds {
				seen[i].Unlock = kindOf(h.Unlock(ctx))
			}
		}
		for i, h := range holds {
			select {
			case <-h.Done():
				seen[i].Done = true
			default:
			}
		}
		line, _ := json.Marshal(seen)
		mu.Unlock()
		fmt.Println(string(line))
	}
	close(stop)
	looking.Wait()
	return 0
}

func (s *sight) look(h *rlock.Hold) {
	before := time.Now()
	err := h.Err()
	switch {
	case err != nil && s.Ended.IsZero():
		s.Ended, s.Err = time.Now(), kindOf(err)
	case err == nil:
		s.LastValid = before
		s.Revived = s.Revived || !s.Ended.IsZero()
	}
}
