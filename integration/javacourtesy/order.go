package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/integration/internal/machineclock"
	"github.com/rlock-go/redisson/integration/javapeer"
	"github.com/rlock-go/redisson/rlock"
)

// childVariable in its environment makes this program, or its test binary, a Go process of the stage: the server's URL.
const childVariable = "RLOCK_COURTESY_CHILD"

// order is what a Go process has to do: Hammer, Listen or Quiet. It answers each with a line of JSON.
type order struct {
	Do        string
	Name      string
	Courteous bool
	Workers   int
	Hold      time.Duration
	Think     time.Duration
	Start     int64 // on machineclock's clock
	For       time.Duration
}

type answer struct {
	Error string
	Turns []javapeer.Turn
}

// obeyIfChild does not return in a process of the stage. One ends with its standard input.
func obeyIfChild() {
	url, ok := os.LookupEnv(childVariable)
	if !ok {
		return
	}
	if err := obey(url); err != nil {
		fmt.Fprintln(os.Stderr, "javacourtesy, Go process:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// goProcess has a client of each kind, since what a courtesy knows is the client's.
type goProcess struct {
	url      string
	clients  map[bool]*rlock.Client
	listener redis.PubSubConn // nobody's lock: plain redigo
}

func obey(url string) error {
	p := &goProcess{url: url, clients: map[bool]*rlock.Client{}}
	for _, on := range []bool{false, true} {
		c, err := rlock.Open(context.Background(), url, courtesy(on)...)
		if err != nil {
			return err
		}
		p.clients[on] = c
	}
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var o order
		if err := in.Decode(&o); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		turns, err := p.carryOut(o)
		a := answer{Turns: turns}
		if err != nil {
			a.Error = err.Error()
		}
		if err := out.Encode(a); err != nil {
			return err
		}
	}
}

func (p *goProcess) carryOut(o order) ([]javapeer.Turn, error) {
	switch o.Do {
	case "hammer":
		return o.hammer(p.clients[o.Courteous])
	case "listen":
		return nil, p.listen(o.Name)
	case "quiet":
		return nil, p.listener.Conn.Close()
	}
	return nil, fmt.Errorf("no such order: %q", o.Do)
}

// listen returns when the subscription is confirmed.
func (p *goProcess) listen(name string) error {
	conn, err := redis.DialURL(p.url, redis.DialReadTimeout(0))
	if err != nil {
		return err
	}
	p.listener = redis.PubSubConn{Conn: conn}
	if err := p.listener.Subscribe(codec.Channel(name)); err != nil {
		return err
	}
	if err, failed := p.listener.Receive().(error); failed {
		return err
	}
	go func() {
		for {
			if _, failed := p.listener.Receive().(error); failed {
				return
			}
		}
	}()
	return nil
}

func (o order) hammer(c *rlock.Client) ([]javapeer.Turn, error) {
	turns, errs := make([][]javapeer.Turn, o.Workers), make([]error, o.Workers)
	var wg sync.WaitGroup
	for i := range o.Workers {
		wg.Go(func() { turns[i], errs[i] = o.work(c.NewLock(o.Name)) })
	}
	wg.Wait()
	var all []javapeer.Turn
	for _, t := range turns {
		all = append(all, t...)
	}
	return all, errors.Join(errs...)
}

func (o order) work(l *rlock.Lock) (turns []javapeer.Turn, err error) {
	ctx := context.Background()
	end := o.Start + o.For.Nanoseconds()
	time.Sleep(time.Duration(o.Start - machineclock.Now()))
	for machineclock.Now() < end {
		var t javapeer.Turn
		t.Asked = machineclock.Now()
		h, err := l.Lock(ctx)
		if err != nil {
			return turns, err
		}
		t.Granted = machineclock.Now()
		if o.Hold > 0 && t.Granted < end {
			time.Sleep(o.Hold)
		}
		t.Releasing = machineclock.Now()
		if err := h.Unlock(ctx); err != nil {
			return turns, err
		}
		turns = append(turns, t)
		if o.Think > 0 {
			time.Sleep(o.Think)
		}
	}
	return turns, nil
}
