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

	"github.com/rlock-go/redisson/integration/kit/machineclock"
	"github.com/rlock-go/redisson/integration/kit/subprocess"
)

// childVariable in the environment makes this program a party's process: a line with its name, one with the address.
const childVariable = "RLOCK_COMPARE_CHILD"

// request and answer are lines of JSON. A child runs its requests concurrently.
type request struct {
	ID   int
	Op   string // lock, unlock, work
	Name string
	Hold int // the lock request that returned the hold
	For  time.Duration
}

type answer struct {
	ID  int
	Err string
	deeds
}

// child is the process of a Go party.
type child struct {
	in io.Writer

	mu      sync.Mutex // guards the fields below, and writing
	last    int
	waiting map[int]chan answer // nil when the process has ended
}

var errGone = errors.New("the process is gone")

func startChild(p *party, addr string) (*service, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), childVariable+"="+p.name+"\n"+addr)
	in, out, err := subprocess.Start(cmd, syscall.SIGKILL)
	if err != nil {
		return nil, err
	}
	c := &child{in: in, waiting: map[int]chan answer{}}
	go c.receive(out)
	kill := func() {
		cmd.Process.Kill()
		cmd.Wait()
	}
	return &service{
		lock: c.lock, close: kill, kill: kill,
		pause:  func() error { return cmd.Process.Signal(syscall.SIGSTOP) },
		resume: func() error { return cmd.Process.Signal(syscall.SIGCONT) },
	}, nil
}

// receive hands answers out until the process ends.
func (c *child) receive(out io.Reader) {
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
		w <- answer{Err: errGone.Error()}
	}
	c.waiting = nil
}

func (c *child) send(r request) (id int, w chan answer, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting == nil {
		return 0, nil, errGone
	}
	c.last++
	r.ID, w = c.last, make(chan answer, 1)
	c.waiting[r.ID] = w
	line, _ := json.Marshal(r)
	_, err = c.in.Write(append(line, '\n'))
	return r.ID, w, err
}

func (c *child) do(ctx context.Context, r request) (id int, did deeds, err error) {
	id, w, err := c.send(r)
	if err != nil {
		return 0, did, err
	}
	select {
	case a := <-w:
		if a.Err != "" {
			err = errors.New(a.Err)
		}
		return id, a.deeds, err
	case <-ctx.Done():
		return id, did, ctx.Err()
	}
}

func (c *child) lock(ctx context.Context, name string) (hold, error) {
	id, _, err := c.do(ctx, request{Op: "lock", Name: name})
	return hold{
		unlock: func(ctx context.Context) error {
			_, _, err := c.do(ctx, request{Op: "unlock", Hold: id})
			return err
		},
		work: func(d time.Duration) (deeds, error) {
			_, did, err := c.do(context.Background(), request{Op: "work", Hold: id, For: d})
			return did, err
		},
	}, err
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
	var mu sync.Mutex // guards holds, and writing
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
			switch r.Op {
			case "lock":
				h, err = s.lock(context.Background(), r.Name)
				mu.Lock()
				holds[r.ID] = h
				mu.Unlock()
			case "unlock":
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

// work acts once per step for d. Before each deed it checks whether it still holds the lock.
func work(h hold, d time.Duration) (deeds, error) {
	if h.work != nil {
		return h.work(d)
	}
	var did deeds
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(step) {
		if h.over != nil && h.over() {
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
