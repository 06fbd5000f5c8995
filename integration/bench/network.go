package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

// networkPart is the uncontended pairs again, with a network between client and server.
const (
	networkPart = "network"
	networkWay  = 250 * time.Microsecond // each way
)

// networkCallers are the numbers of callers behind the network.
var networkCallers = []int{1, 16, 128}

// runNetwork measures pairs whose commands and replies a process of its own delays.
func runNetwork(r *run) (err error) {
	defer caught(&err)
	c := must(startChild(networkPart, limitName, r.server.addr, networkWay.String()))
	defer c.close()
	return r.pairs(networkPart, must(c.line(grace)), networkCallers)
}

// networkMain runs in the child. It passes all bytes on, each a while after it came.
func networkMain(addr, argument string) (err error) {
	defer caught(&err)
	way := must(time.ParseDuration(argument))
	l := must(net.Listen("tcp", "127.0.0.1:0"))
	fmt.Println(l.Addr())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // until the parent has enough
		l.Close()
	}()
	for {
		from, err := l.Accept()
		if err != nil {
			return nil
		}
		to, err := net.Dial("tcp", addr)
		if err != nil {
			from.Close()
			continue
		}
		go delayed(to, from, way)
		go delayed(from, to, way)
	}
}

// delayed copies until either side closes. What comes while an earlier chunk is held up is held up no longer than that.
func delayed(to, from net.Conn, way time.Duration) {
	type chunk struct {
		due  time.Time
		data []byte
	}
	chunks := make(chan chunk, 1024)
	go func() {
		defer close(chunks)
		for {
			b := make([]byte, 16<<10)
			n, err := from.Read(b)
			if err != nil {
				return
			}
			chunks <- chunk{time.Now().Add(way), b[:n]}
		}
	}()
	defer to.Close()
	defer from.Close()
	for c := range chunks {
		if left := time.Until(c.due); left > 0 {
			nap(left)
		}
		if _, err := to.Write(c.data); err != nil {
			break
		}
	}
	from.Close()
	for range chunks { // until its reader has ended
	}
}
