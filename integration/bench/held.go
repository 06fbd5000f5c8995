package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gomodule/redigo/redis"
)

// renewing are the peers that extend what they hold. Redisson does too, but a thread for each hold is not how anybody
// would run it.
var renewing = map[string]int{ours: 1_000_000, beforeP: 1_000_000, rueidisP: 10_000} // up to so many holds

// The second window of renewals: the first has the first looks at holds, which rlock reads to be told of their loss. It
// begins when each hold is old enough for them, and has been renewed once.
const (
	renewEvery   = lease / 3
	renewalsOnly = ", renewals only"
)

// runHeld measures what held locks cost: memory, renewals, and the peace of others.
func runHeld(r *run) error {
	for _, n := range r.sizes.holds {
		for range r.sizes.held {
			if n == slices.Max(r.sizes.holds) {
				if err := r.hold(limitName, n); err != nil {
					return err
				}
			}
			for _, p := range builtIn() {
				if n > renewing[p.name] || !r.wants(p.name) {
					continue
				}
				if err := r.hold(p.name, n); err != nil {
					if err := r.failed(p.name, fmt.Sprintf("%d holds", n), err); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// hold has a child of the peer, or the limit's, hold n locks.
func (r *run) hold(peer string, n int) (err error) {
	c, err := startChild("hold", peer, r.server.addr, strconv.Itoa(n))
	if err != nil {
		return err
	}
	defer func() {
		c.close()
		err = errors.Join(err, r.server.clear())
	}()
	at := strconv.Itoa(n)
	if _, err := c.line(grace); err != nil { // connected
		return err
	}

	quiet, err := startProbe(r.server.addr)
	if err != nil {
		return err
	}
	time.Sleep(r.sizes.quiet) // in a full run as long as during, or the worst second would not compare
	all, worst, err := quiet.end()
	if err != nil {
		return err
	}
	before99 := all
	r.add("held", peer, at, "PING p99 before, µs", all)
	r.add("held", peer, at, "PING p99 worst second before, µs", worst)

	empty, err := r.server.info("memory", "used_memory")
	if err != nil {
		return err
	}
	if err := c.tell("hold"); err != nil {
		return err
	}
	text, err := c.line(4 * grace)
	if err != nil {
		return err
	}
	bytes, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return err
	}
	if peer != limitName {
		r.add("held", peer, at, "bytes a hold", bytes)
	}

	there := time.Now()
	if err := r.watchHeld(c, peer, at, before99, ""); err != nil {
		return err
	}
	full, err := r.server.info("memory", "used_memory")
	if err != nil {
		return err
	}
	r.add("held", peer, at, "server bytes a hold", (full-empty)/float64(n))
	tracked, err := r.server.info("stats", "tracking_total_keys")
	if err != nil {
		return err
	}
	r.add("held", peer, at, "tracked keys", tracked)

	time.Sleep(time.Until(there.Add(toldAge + renewEvery)))
	if err := r.watchHeld(c, peer, at, before99, renewalsOnly); err != nil {
		return err
	}

	keys, err := redis.Int(r.server.conn.Do("DBSIZE"))
	if err != nil {
		return err
	}
	if keys < n {
		return fmt.Errorf("of %d locks %d were left", n, keys)
	}
	r.say("held, %s, %d: done", peer, n)
	return nil
}

// watchHeld has the server, the child and a PING watched while the child renews. Its metrics' names end with when.
func (r *run) watchHeld(c *child, peer, at string, before99 float64, when string) error {
	before, err := r.server.commands()
	if err != nil {
		return err
	}
	cpu, err := r.server.cpu()
	if err != nil {
		return err
	}
	ran, err := r.server.scripts()
	if err != nil {
		return err
	}
	holder, err := processCPU(c.cmd.Process.Pid)
	if err != nil {
		return err
	}
	busy, err := startProbe(r.server.addr)
	if err != nil {
		return err
	}
	began := time.Now()
	time.Sleep(r.sizes.holdTick)
	after, err := r.server.commands()
	if err != nil {
		return err
	}
	used, err := r.server.cpu()
	if err != nil {
		return err
	}
	seconds := time.Since(began).Seconds()
	held, err := processCPU(c.cmd.Process.Pid)
	if err != nil {
		return err
	}
	scripts, err := r.server.scripts()
	if err != nil {
		return err
	}
	all, worst, err := busy.end()
	if err != nil {
		return err
	}
	d := after.since(before)
	r.add("held", peer, at, "EVALSHA in 10 s"+when, float64(d["evalsha"]+d["eval"])/seconds*10)
	r.add("held", peer, at, "server CPU, %"+when, (used-cpu).Seconds()/seconds*100)
	r.add("held", peer, at, "holder CPU, %"+when, (held.cpu-holder.cpu).Seconds()/seconds*100)
	r.add("held", peer, at, "µs a script"+when, float64((scripts-ran).Microseconds())/float64(max(d["evalsha"], 1)))
	r.add("held", peer, at, "PING p99 during, µs"+when, all)
	r.add("held", peer, at, "PING p99 during / before"+when, all/before99)
	r.add("held", peer, at, "PING p99 worst second during, µs"+when, worst)
	return nil
}

// holdMain is the child: it says that it is there, and holds so many locks when told.
func holdMain(c client, argument string) error {
	n, err := strconv.Atoi(argument)
	if err != nil {
		return err
	}
	in := bufio.NewScanner(os.Stdin)
	fmt.Println("ready")
	if !in.Scan() {
		return in.Err()
	}
	before := liveBytes()
	handles := make([]handle, n)
	var next, bad atomic.Int64
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				handles[i] = c.handle(fmt.Sprint("held:", i))
				if err := handles[i].lock(context.Background()); err != nil {
					fmt.Fprintln(os.Stderr, "bench, child:", err)
					bad.Add(1)
					return
				}
			}
		})
	}
	wg.Wait()
	if bad.Load() > 0 {
		return fmt.Errorf("not all %d locks were had", n)
	}
	fmt.Println((liveBytes() - before) / float64(n))
	// Until the parent has seen enough.
	in.Scan()
	return handles[0].unlock(context.Background())
}
