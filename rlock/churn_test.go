package rlock

import (
	"bytes"
	"context"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/redistest"
)

// Something between client and server hangs up at every script.
func TestConnectionsThatBreakAtOnceAreMadeWithPauses(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "pauses between connections are waited for")
	s := redistest.Start(t)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var accepts atomic.Int64
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return // closed below
			}
			accepts.Add(1)
			all.Go(func() { forwardButScripts(t, c, s.Addr()) })
		}
	})
	c, err := Open(t.Context(), "redis://"+ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	if _, err := c.NewLock("orders").Lock(ctx); err == nil {
		t.Error("no error")
	}
	<-time.After(time.Second) // the acquire is to be undone all the while
	if n, took := accepts.Load(), time.Since(began); n < 2 || n > 30+int64(took/(100*time.Millisecond)) {
		t.Errorf("%d connections in %v", n, took)
	}
	c.Close()
	ln.Close()
	all.Wait()
}

// forwardButScripts passes on what comes from c, until that is a script.
func forwardButScripts(t *testing.T, c net.Conn, to string) {
	defer c.Close()
	up, err := net.Dial("tcp", to)
	if err != nil {
		t.Error(err)
		return
	}
	var back sync.WaitGroup
	back.Go(func() { _, _ = io.Copy(c, up) }) // until one of them is closed
	defer back.Wait()
	defer up.Close()
	buf := make([]byte, 4096)
	for {
		n, err := c.Read(buf)
		if err != nil || bytes.Contains(buf[:n], []byte("EVALSHA")) {
			return
		}
		if _, err := up.Write(buf[:n]); err != nil {
			return
		}
	}
}
