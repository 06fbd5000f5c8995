package main

import (
	"context"
	"fmt"
	"net"
	"runtime"
	"time"
)

const (
	// neighbourRole is a child with one lone caller and a neighbour.
	neighbourRole = "neighbour"

	// neighbourPause is what the neighbour does between two round trips.
	neighbourPause = time.Millisecond
)

// neighbourPlaces are where it is measured: so many processors of Go's, all but one of them kept busy by a goroutine.
var neighbourPlaces = map[int]string{1: "GOMAXPROCS=1", 2: "GOMAXPROCS=2, one busy"}

// runNeighbour measures a round trip that has nothing to do with locks, in the process of one lone caller: what the
// caller's way to wait for its replies costs others.
func runNeighbour(r *run) error {
	for range r.sizes.rounds {
		for procs := 1; procs <= len(neighbourPlaces); procs++ {
			at := neighbourPlaces[procs]
			for _, name := range []string{ours, beforeP} {
				if findPeer(name) == nil || !r.wants(name) {
					continue
				}
				if err := r.neighbour(name, at, procs); err != nil {
					if err := r.failed(name, "a neighbour's round trips, "+at, err); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

func (r *run) neighbour(name, at string, procs int) error {
	c, err := startChild(neighbourRole, name, r.server.addr, fmt.Sprint(procs, " ", r.sizes.length.Milliseconds()))
	if err != nil {
		return err
	}
	defer c.close()
	text, err := c.line(grace)
	if err != nil {
		return err
	}
	var all [5]float64
	if _, err := fmt.Sscan(text, &all[0], &all[1], &all[2], &all[3], &all[4]); err != nil {
		return fmt.Errorf("%q: %w", text, err)
	}
	for i, metric := range []string{"alone, p50 µs", "alone, p99 µs", "p50 µs", "p99 µs", "pair, µs"} {
		r.add("neighbour", name, at, metric, all[i])
	}
	return nil
}

// neighbourMain is the child.
func neighbourMain(c client, addr, argument string) error {
	var procs, ms int
	if _, err := fmt.Sscan(argument, &procs, &ms); err != nil {
		return err
	}
	length := time.Duration(ms) * time.Millisecond
	runtime.GOMAXPROCS(procs)
	for range procs - 1 {
		go func() {
			for n := uint64(1); n > 0; n++ {
			}
		}()
	}
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	alone, err := roundTrips(conn, length)
	if err != nil {
		return err
	}
	h := c.handle("neighbour:")
	pairs := func(until time.Time) (n int, err error) {
		for err == nil && time.Now().Before(until) {
			if err = h.lock(context.Background()); err == nil {
				err = h.unlock(context.Background())
			}
			n++
		}
		return n, err
	}
	if _, err := pairs(time.Now().Add(2 * length)); err != nil { // until it has found its way
		return err
	}
	type result struct {
		pairs int
		err   error
	}
	ended := make(chan result, 1)
	go func() {
		n, err := pairs(time.Now().Add(length))
		ended <- result{n, err}
	}()
	beside, err := roundTrips(conn, length)
	if err != nil {
		return err
	}
	lone := <-ended
	if lone.err != nil {
		return lone.err
	}
	fmt.Println(quantile(alone, 0.5), quantile(alone, 0.99), quantile(beside, 0.5), quantile(beside, 0.99),
		length.Seconds()*1e6/float64(lone.pairs))
	return nil
}

// roundTrips are a neighbour's, in µs.
func roundTrips(conn net.Conn, length time.Duration) (took []float64, err error) {
	room := make([]byte, 100)
	for end := time.Now().Add(length); time.Now().Before(end); time.Sleep(neighbourPause) {
		start := time.Now()
		if _, err := conn.Write([]byte("PING\r\n")); err != nil {
			return nil, err
		}
		if _, err := conn.Read(room); err != nil {
			return nil, err
		}
		took = append(took, time.Since(start).Seconds()*1e6)
	}
	return took, nil
}
