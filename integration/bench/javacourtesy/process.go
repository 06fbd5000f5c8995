package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/integration/kit/machineclock"
	"github.com/rlock-go/redisson/integration/kit/subprocess"
	"github.com/rlock-go/redisson/rlock"
)

// side is the language of a process.
type side string

const (
	goSide   side = "Go"
	javaSide side = "Java"
)

// process is a Go or a Java process that runs a load for an order. The call returns when its last worker is done.
type process struct {
	side   side
	hammer func(order) ([]javapeer.Turn, error)
}

// order is a load.
type order struct {
	Name      string
	Courteous bool
	Workers   int
	Hold      time.Duration
	Think     time.Duration
	Start     int64 // on machineclock's clock
	For       time.Duration
}

// answer is a line of JSON, as an order is.
type answer struct {
	Error string
	Turns []javapeer.Turn
}

// childVariable in the environment makes this program a Go process of the stage. It is the server's URL.
const childVariable = "RLOCK_COURTESY_CHILD"

// patience is how much longer than its load a process may take: after a lost message a waiter sleeps for a lease, 30 s.
const patience = 60 * time.Second

// startGo starts a Go process that ends with t.
func startGo(t testing.TB, binary, url string) process {
	t.Helper()
	cmd := exec.Command(binary)
	cmd.Env = append(os.Environ(), childVariable+"="+url)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	in, out, err := subprocess.Start(cmd, syscall.SIGKILL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		// After the end of its input it ends at once, unless it hangs.
		kill := time.AfterFunc(5*time.Second, func() { cmd.Process.Kill() })
		defer kill.Stop()
		if err := cmd.Wait(); err != nil {
			t.Errorf("a Go process ended with %v, and on standard error:\n%s", err, stderr.String())
		}
	})
	orders, answers := json.NewEncoder(in), json.NewDecoder(out)
	return process{goSide, func(o order) ([]javapeer.Turn, error) {
		// Killing the process also ends the read of its answers.
		late := time.AfterFunc(o.For+patience, func() { cmd.Process.Kill() })
		defer late.Stop()
		var a answer
		if err := errors.Join(orders.Encode(o), answers.Decode(&a)); err != nil {
			return nil, fmt.Errorf("the Go process did not answer: %w", err)
		}
		if a.Error != "" {
			return nil, errors.New(a.Error)
		}
		return a.Turns, nil
	}}
}

// startJava starts a JVM with Redisson's own pool sizes. It ends with t.
func startJava(t testing.TB, addr string) process {
	t.Helper()
	p := javapeer.Start(t, javapeer.Newest, addr, javapeer.JVMArgs("-Xmx256m"), javapeer.WholeJIT(),
		javapeer.ConnectionPoolSize(64), javapeer.SubscriptionPoolSize(50))
	return process{javaSide, func(o order) ([]javapeer.Turn, error) {
		ctx, cancel := context.WithTimeout(context.Background(), o.For+patience)
		defer cancel()
		return p.Hammer(ctx, javapeer.Hammer{Name: o.Name, Workers: o.Workers, Hold: o.Hold, Think: o.Think, For: o.For, StartAt: o.Start})
	}}
}

// obey runs a Go process until its input ends. It has a client with courtesy and one without, which share no knowledge.
func obey(url string) error {
	clients := map[bool]*rlock.Client{}
	for _, on := range []bool{false, true} {
		c, err := rlock.Open(context.Background(), url, rlock.WithCourtesy(on))
		if err != nil {
			return err
		}
		clients[on] = c
	}
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var o order
		if err := in.Decode(&o); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		var a answer
		var err error
		if a.Turns, err = o.hammer(clients[o.Courteous]); err != nil {
			a.Error = err.Error()
		}
		if err := out.Encode(a); err != nil {
			return err
		}
	}
}

func (o order) hammer(c *rlock.Client) (all []javapeer.Turn, err error) {
	var wg sync.WaitGroup
	var mu sync.Mutex // guards the results
	for range o.Workers {
		wg.Go(func() {
			turns, failed := o.work(c.NewLock(o.Name))
			mu.Lock()
			defer mu.Unlock()
			all, err = append(all, turns...), errors.Join(err, failed)
		})
	}
	wg.Wait()
	return all, err
}

func (o order) work(l *rlock.Lock) (turns []javapeer.Turn, err error) {
	ctx := context.Background()
	time.Sleep(time.Duration(o.Start - machineclock.Now()))
	for end := o.Start + o.For.Nanoseconds(); machineclock.Now() < end; time.Sleep(o.Think) {
		t := javapeer.Turn{Asked: machineclock.Now()}
		h, err := l.Lock(ctx)
		if err != nil {
			return turns, err
		}
		if t.Granted = machineclock.Now(); t.Granted < end {
			time.Sleep(o.Hold)
		}
		t.Releasing = machineclock.Now()
		if err := h.Unlock(ctx); err != nil {
			return turns, err
		}
		turns = append(turns, t)
	}
	return turns, nil
}
