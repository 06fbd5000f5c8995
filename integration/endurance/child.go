package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"

	"github.com/rlock-go/redisson/integration/internal/subprocess"
)

// childWord is the argument that makes this program a child.
const childWord = "child"

// runIfChild serves orders from standard input, one a line, and ends with it.
func runIfChild() {
	if len(os.Args) != 2 || os.Args[1] != childWord {
		return
	}
	var a *agent
	var mu sync.Mutex // keeps lines whole
	out := json.NewEncoder(os.Stdout)
	orders := bufio.NewScanner(os.Stdin)
	for orders.Scan() {
		var o op
		if err := json.Unmarshal(orders.Bytes(), &o); err != nil {
			fmt.Fprintln(os.Stderr, "endurance: child:", err)
			os.Exit(2)
		}
		if o.Do == doOpen {
			a = &agent{} // one client after the other
		}
		client := a
		go func() {
			r := client.do(o)
			mu.Lock()
			defer mu.Unlock()
			_ = out.Encode(r) // a parent that is gone ends this process by its standard input
		}()
	}
	os.Exit(0)
}

// party is who makes calls for a client: an agent here, or a child's.
type party interface{ do(op) reply }

// child is another process that makes the calls of one client at a time.
type child struct {
	cmd *exec.Cmd
	in  io.WriteCloser

	mu    sync.Mutex // guards what follows
	last  int
	await map[int]chan reply
	gone  bool
}

func startChild() (*child, error) {
	binary, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &child{cmd: exec.Command(binary, childWord), await: map[int]chan reply{}}
	var out io.Reader
	if c.in, out, err = subprocess.Start(c.cmd, syscall.SIGKILL); err != nil {
		return nil, err
	}
	go c.listen(out)
	return c, nil
}

func (c *child) listen(out io.Reader) {
	lines := json.NewDecoder(out)
	for {
		var r reply
		if err := lines.Decode(&r); err != nil {
			break
		}
		c.mu.Lock()
		to := c.await[r.ID]
		delete(c.await, r.ID)
		c.mu.Unlock()
		to <- r
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone = true
	for id, to := range c.await {
		delete(c.await, id)
		to <- reply{Text: "the child is gone", Kinds: []string{"gone"}}
	}
}

func (c *child) do(o op) reply {
	to := make(chan reply, 1)
	c.mu.Lock()
	c.last++
	o.Line = c.last
	line, err := json.Marshal(o)
	if c.gone || err != nil {
		c.mu.Unlock()
		return reply{Text: "the child is gone", Kinds: []string{"gone"}}
	}
	c.await[o.Line] = to
	_, _ = c.in.Write(append(line, '\n')) // a child that is gone is heard of by listen
	c.mu.Unlock()
	return <-to
}

// end closes the child's standard input, which ends it.
func (c *child) end() error {
	c.in.Close()
	return c.cmd.Wait()
}
