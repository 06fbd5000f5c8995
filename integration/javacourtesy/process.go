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
	"syscall"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/internal/subprocess"
	"github.com/rlock-go/redisson/integration/javapeer"
)

// side is what a process is made of.
type side string

const (
	goSide   side = "Go"
	javaSide side = "Java"
)

// process is a Go or a Java process that hammers when it is told to.
type process interface {
	side() side
	hammer(o order) ([]javapeer.Turn, error) // returns when its last worker is done
}

// patience is how much longer than its load a process may take. Whoever misses a message waits for a lease's end, 30 s.
const patience = 60 * time.Second

// child is a Go process: this program again, or the binary of a stage that has one. It is used by one goroutine at a time.
type child struct {
	in     io.WriteCloser
	out    *json.Decoder
	cmd    *exec.Cmd
	stderr bytes.Buffer
}

// startChild starts a Go process that ends with t.
func startChild(t testing.TB, binary, url string) *child {
	t.Helper()
	c := &child{cmd: exec.Command(binary)}
	c.cmd.Env = append(os.Environ(), childVariable+"="+url)
	c.cmd.Stderr = &c.stderr
	in, out, err := subprocess.Start(c.cmd, syscall.SIGKILL)
	if err != nil {
		t.Fatal(err)
	}
	c.in, c.out = in, json.NewDecoder(out)
	t.Cleanup(func() {
		c.in.Close()
		// What it does at the end of its input takes no time, unless it hangs.
		kill := time.AfterFunc(5*time.Second, func() { c.cmd.Process.Kill() })
		defer kill.Stop()
		if err := c.cmd.Wait(); err != nil {
			t.Errorf("a Go process ended with %v, and on standard error:\n%s", err, c.stderr.String())
		}
	})
	return c
}

func (c *child) side() side { return goSide }

func (c *child) hammer(o order) ([]javapeer.Turn, error) {
	o.Do = "hammer"
	return c.ask(o)
}

func (c *child) ask(o order) ([]javapeer.Turn, error) {
	if err := json.NewEncoder(c.in).Encode(o); err != nil {
		return nil, err
	}
	// Its end is the end of what is read.
	late := time.AfterFunc(o.For+patience, func() { c.cmd.Process.Kill() })
	defer late.Stop()
	var a answer
	if err := c.out.Decode(&a); err != nil {
		return nil, fmt.Errorf("the Go process did not answer: %w", err)
	}
	if a.Error != "" {
		return nil, errors.New(a.Error)
	}
	return a.Turns, nil
}

// jvm is a Java process.
type jvm struct{ *javapeer.Peer }

// startJVM starts a JVM with Redisson's own sizes of pools. It ends with t.
func startJVM(t testing.TB, addr string) jvm {
	t.Helper()
	return jvm{javapeer.Start(t, javapeer.Newest, addr, javapeer.JVMArgs("-Xmx256m"), javapeer.WholeJIT(),
		javapeer.ConnectionPoolSize(64), javapeer.SubscriptionPoolSize(50))}
}

func (j jvm) side() side { return javaSide }

func (j jvm) hammer(o order) ([]javapeer.Turn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), o.For+patience)
	defer cancel()
	return j.Peer.Hammer(ctx, javapeer.Hammer{
		Name: o.Name, Workers: o.Workers, Hold: o.Hold, Think: o.Think, For: o.For, StartAt: o.Start,
	})
}
