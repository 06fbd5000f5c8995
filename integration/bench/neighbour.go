package main

import (
	"context"
	"fmt"
	"net"
	"runtime"
	"time"

	"github.com/rlock-go/redisson/integration/kit/quantile"
)

const (
	// neighbourRole is the role of a child with one lone caller and a neighbour.
	neighbourRole = "neighbour"

	// neighbourPause is the neighbour's pause between two round trips.
	neighbourPause = time.Millisecond
)

// neighbourPlaces are the values of GOMAXPROCS; all but one of the processors are kept busy by a goroutine each.
var neighbourPlaces = map[int]string{1: "GOMAXPROCS=1", 2: "GOMAXPROCS=2, one busy"}

// runNeighbour measures a round trip that has nothing to do with locks, in the process of one lone caller. It shows
// what the caller's way of waiting for replies costs other goroutines.
func runNeighbour(r *run) (err error) {
	defer caught(&err)
	for range r.sizes.rounds {
		for procs := 1; procs <= len(neighbourPlaces); procs++ {
			for _, name := range []string{ours, beforeP} {
				if findPeer(name) == nil || !r.wants(name) {
					continue
				}
				at := neighbourPlaces[procs]
				if err := r.neighbour(name, at, procs); err != nil {
					check(r.failed(name, "a neighbour's round trips, "+at, err))
				}
			}
		}
	}
	return nil
}

func (r *run) neighbour(name, at string, procs int) (err error) {
	defer caught(&err)
	c := must(startChild(neighbourRole, name, r.server.addr, fmt.Sprint(procs, " ", r.sizes.length.Milliseconds())))
	defer c.close()
	var all [4]float64
	must(fmt.Sscan(must(c.line(grace)), &all[0], &all[1], &all[2], &all[3]))
	for i, metric := range []string{"alone, p50 µs", "alone, p99 µs", "p50 µs", "p99 µs"} {
		r.add("neighbour", name, at, metric, all[i])
	}
	return nil
}

// neighbourMain runs in the child.
func neighbourMain(c client, addr, argument string) (err error) {
	defer caught(&err)
	var procs, ms int
	must(fmt.Sscan(argument, &procs, &ms))
	length := time.Duration(ms) * time.Millisecond
	runtime.GOMAXPROCS(procs)
	for range procs - 1 {
		go func() {
			for n := uint64(1); n > 0; n++ {
			}
		}()
	}
	conn := must(net.Dial("tcp", addr))
	defer conn.Close()
	alone := must(roundTrips(conn, length))
	h := c.handle("neighbour:")
	pairs := func(length time.Duration) (err error) {
		for until := time.Now().Add(length); err == nil && time.Now().Before(until); {
			if err = h.lock(context.Background()); err == nil {
				err = h.unlock(context.Background())
			}
		}
		return err
	}
	check(pairs(2 * length)) // until its way of waiting has settled
	ended := make(chan error, 1)
	go func() { ended <- pairs(length) }()
	beside := must(roundTrips(conn, length))
	check(<-ended)
	fmt.Println(quantile.Of(alone, 0.5), quantile.Of(alone, 0.99), quantile.Of(beside, 0.5), quantile.Of(beside, 0.99))
	return nil
}

// roundTrips returns the times of a neighbour's round trips, in µs.
func roundTrips(conn net.Conn, length time.Duration) (took []float64, err error) {
	defer caught(&err)
	room := make([]byte, 100)
	for end := time.Now().Add(length); time.Now().Before(end); time.Sleep(neighbourPause) {
		start := time.Now()
		must(conn.Write([]byte("PING\r\n")))
		must(conn.Read(room))
		took = append(took, time.Since(start).Seconds()*1e6)
	}
	return took, nil
}
