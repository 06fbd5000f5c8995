package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rlock-go/redisson/integration/internal/machineclock"
	"github.com/rlock-go/redisson/integration/internal/subprocess"
)

// childVariable in its environment makes this program a party's process: the party and the server's address, a line each.
const childVariable = "RLOCK_COMPARE_CHILD"

// request and answer are lines of JSON. Requests of one child run beside each other.
type request struct {
	ID   int
	Op   string // lock, unlock, work
	Name string
	Hold int // the request that took it
	For  time.Duration
}

type answer struct {
	ID  int
	Err string
	deeds
}

// process is a service in a process of its own, which can be killed and stopped.
type process interface {
	service
	kill()
	pause() error
	resume() error
}

// child is the process of a Go party.
type child struct {
	cmd *exec.Cmd
	in  io.WriteCloser

	mu      sync.Mutex // guards what follows, and writing
	last    int
	waiting map[int]chan answer
}

func startChild(p *party, addr string) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &child{cmd: exec.Command(self), waiting: map[int]chan answer{}}
	c.cmd.Env = append(os.Environ(), childVariable+"="+p.name+"\n"+addr)
	var out io.Reader
	if c.in, out, err = subprocess.Start(c.cmd, syscall.SIGKILL); err != nil {
		return nil, err
	}
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			var a answer
			if json.Unmarshal(lines.Bytes(), &a) != nil {
				continue
			}
			c.mu.Lock()
			w := c.waiting[a.ID]
			delete(c.waiting, a.ID)
			c.mu.Unlock()
			if w != nil {
				w <- a
			}
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, w := range c.waiting {
			w <- answer{Err: "the process is gone"}
		}
		c.waiting = nil
	}()
	return c, nil
}

func (c *child) do(ctx context.Context, r request) (int, answer, error) {
	w := make(chan answer, 1)
	c.mu.Lock()
	if c.waiting == nil {
		c.mu.Unlock()
		return 0, answer{}, errors.New("the process is gone")
	}
	c.last++
	r.ID = c.last
	c.waiting[r.ID] = w
	line, _ := json.Marshal(r)
	_, err := c.in.Write(append(line, '\n'))
	c.mu.Unlock()
	if err != nil {
		return 0, answer{}, err
	}
	select {
	case a := <-w:
		if a.Err != "" {
			return r.ID, a, errors.New(a.Err)
		}
		return r.ID, a, nil
	case <-ctx.Done():
		return r.ID, answer{}, ctx.Err()
	}
}

func (c *child) lock(ctx context.Context, name string) (hold, error) {
	id, _, err := c.do(ctx, request{Op: "lock", Name: name})
	if err != nil {
		return nil, err
	}
	return childHold{c, id}, nil
}

func (c *child) close()        { c.kill() }
func (c *child) pause() error  { return c.cmd.Process.Signal(syscall.SIGSTOP) }
func (c *child) resume() error { return c.cmd.Process.Signal(syscall.SIGCONT) }

func (c *child) kill() {
	c.cmd.Process.Kill()
	c.cmd.Wait()
}

type childHold struct {
	c  *child
	id int
}

func (h childHold) unlock(ctx context.Context) error {
	_, _, err := h.c.do(ctx, request{Op: "unlock", Hold: h.id})
	return err
}

func (h childHold) over() bool { return false } // work says it

func (h childHold) work(d time.Duration) (deeds, error) {
	_, a, err := h.c.do(context.Background(), request{Op: "work", Hold: h.id, For: d})
	return a.deeds, err
}

// childMain serves until its standard input ends.
func childMain(text string) error {
	name, addr, _ := strings.Cut(text, "\n")
	p := findParty(name)
	if p == nil || p.open == nil {
		return fmt.Errorf("no such party: %q", name)
	}
	s, err := p.open(opening{addr: addr})
	if err != nil {
		return err
	}
	var mu sync.Mutex
	holds := map[int]hold{}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var r request
		if err := json.Unmarshal(in.Bytes(), &r); err != nil {
			return err
		}
		go func() {
			a := answer{ID: r.ID}
			mu.Lock()
			h := holds[r.Hold]
			mu.Unlock()
			var err error
			switch {
			case r.Op == "lock":
				if h, err = s.lock(context.Background(), r.Name); err == nil {
					mu.Lock()
					holds[r.ID] = h
					mu.Unlock()
				}
			case h == nil:
				err = errors.New("no such hold")
			case r.Op == "unlock":
				err = h.unlock(context.Background())
			default:
				a.deeds, err = work(h, r.For)
			}
			if err != nil {
				a.Err = err.Error()
			}
			line, _ := json.Marshal(a)
			mu.Lock()
			defer mu.Unlock()
			os.Stdout.Write(append(line, '\n'))
		}()
	}
	return in.Err()
}

// work acts each step for d, and looks before each deed whether it may.
func work(h hold, d time.Duration) (deeds, error) {
	if w, far := h.(worker); far {
		return w.work(d)
	}
	var did deeds
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(step) {
		if h.over() {
			did.Told = machineclock.Now()
			return did, nil
		}
		now := machineclock.Now()
		if did.Last != 0 && since(did.Last, now) > lease/2 {
			did.Woke = now
		}
		did.Last = now
	}
	return did, nil
}
