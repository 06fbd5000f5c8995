package faults

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/gomodule/redigo/redis"
	"github.com/rlock-go/redisson/integration/internal/subprocess"
	"github.com/rlock-go/redisson/integration/testbed"
	"github.com/rlock-go/redisson/rlock"
)

// process is a child as its parent has it.
type process struct {
	r   *round
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// spawn starts a child that holds the round's locks.
func (r *round) spawn() *process {
	r.Helper()
	o, _ := json.Marshal(orders{URL: r.server.URL(), Name: r.name, Holds: r.row.batch, Lease: lease()})
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+string(o))
	in, out, err := subprocess.Start(cmd, syscall.SIGKILL)
	if err != nil {
		r.Fatal(err)
	}
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

// stop returns when the process stands still.
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

// report has the child say what it saw, after its unlocks if that is the order.
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

func (r *round) ttl(name string) time.Duration {
	ms, err := redis.Int64(testbed.Do(r.T, r.direct, "PTTL", name), nil)
	if err != nil {
		r.Fatal(err)
	}
	return time.Duration(ms) * time.Millisecond
}

func (r *round) at(name string) *rlock.Lock { return r.rival.NewLock(name) }

// shortPause: the process stands still for half of its lease, and notices nothing.
func shortPause(r *round) {
	p := r.spawn()
	p.stop()
	<-time.After(lease() / 2)
	from := p.goOn()
	name := func(i int) string { return fmt.Sprintf("%s-%d", r.name, i) }
	// The renewals that were missed are made up for.
	for i := range r.row.batch {
		if !testbed.Within(soon, func() bool { return r.ttl(name(i)) > lease()*6/10 }) {
			r.violates("%s is not renewed: %v left", name(i), r.ttl(name(i)))
			break // the rest, if not renewed, would be waited for as long
		}
	}
	r.row.took("renewed after waking", time.Since(from))
	var seen []sight
	testbed.Within(soon, func() bool {
		seen = p.report("look")
		return !slices.ContainsFunc(seen, func(s sight) bool { return s.LastValid.Before(from) && s.Ended.IsZero() })
	})
	for i, s := range seen {
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

// longPause: the process stands still until others are inside. What it sees when it goes on must not be its hold.
func longPause(r *round) {
	p := r.spawn()
	p.stop()
	others := make([]*rlock.Hold, r.row.batch)
	entered := make([]time.Time, r.row.batch)
	// All have been told "taken" before the leases end; nobody is inside before that.
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
	var seen []sight
	testbed.Within(soon, func() bool { // it has looked at all of them
		seen = p.report("look")
		return !slices.ContainsFunc(seen, func(s sight) bool { return s.LastValid.Before(from) && s.Ended.IsZero() })
	})
	for i, s := range seen {
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
