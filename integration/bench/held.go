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

// renewing are the peers that extend what they hold. Redisson does too, but nobody would run it with a thread per hold.
var renewing = map[string]int{ours: 1_000_000, beforeP: 1_000_000, rueidisP: 10_000} // the most holds that are measured

// The second window of renewals. The first window includes rlock's first reads of its holds, by which the server
// notifies it of a loss. The second begins when each hold was old enough to be read, and has been renewed once since.
const (
	watchedAge   = 5300 * time.Millisecond // rlock reads no younger holds
	renewEvery   = lease / 3
	renewalsOnly = ", renewals only"
)

// runHeld measures the cost of held locks: memory, renewals, and delays of other clients.
func runHeld(r *run) (err error) {
	defer caught(&err)
	for _, n := range r.sizes.holds {
		for range r.sizes.held {
			if n == slices.Max(r.sizes.holds) {
				check(r.hold(limitName, n))
			}
			for _, p := range builtIn() {
				if n > renewing[p.name] || !r.wants(p.name) {
					continue
				}
				if err := r.hold(p.name, n); err != nil {
					check(r.failed(p.name, fmt.Sprintf("%d holds", n), err))
				}
			}
		}
	}
	return nil
}

// hold makes a child of the peer, or of the limit, hold n locks.
func (r *run) hold(peer string, n int) (err error) {
	defer caught(&err)
	c := must(startChild("hold", peer, r.server.addr, strconv.Itoa(n)))
	defer func() {
		c.close()
		err = errors.Join(err, r.server.clear())
	}()
	at := strconv.Itoa(n)
	add := func(metric string, value float64) { r.add("held", peer, at, metric, value) }
	must(c.line(grace)) // connected

	quiet := must(startProbe(r.server.addr))
	time.Sleep(r.sizes.quiet) // in a full run as long as each later window, or worst seconds would not compare
	before99, worst, err := quiet.end()
	check(err)
	add("PING p99 before, µs", before99)
	add("PING p99 worst second before, µs", worst)

	check(c.tell("hold"))
	bytes := must(strconv.ParseFloat(must(c.line(4*grace)), 64))
	if peer != limitName {
		add("bytes a hold", bytes)
	}

	there := time.Now()
	check(r.watchHeld(c, peer, at, before99, ""))

	time.Sleep(time.Until(there.Add(watchedAge + renewEvery)))
	check(r.watchHeld(c, peer, at, before99, renewalsOnly))

	if keys := must(redis.Int(r.server.conn.Do("DBSIZE"))); keys < n {
		return fmt.Errorf("of %d locks %d were left", n, keys)
	}
	r.say("held, %s, %d: done", peer, n)
	return nil
}

// watchHeld watches the server, the child and a PING while the child renews. when is a suffix of the metrics' names.
func (r *run) watchHeld(c *child, peer, at string, before99 float64, when string) (err error) {
	defer caught(&err)
	var calls [2]commands
	var cpu, ran [2]time.Duration
	var holder [2]usage
	look := func(i int) {
		calls[i], cpu[i], ran[i] = must(r.server.commands()), must(r.server.cpu()), must(r.server.scripts())
		holder[i] = must(processCPU(c.cmd.Process.Pid))
	}
	look(0)
	pings := must(startProbe(r.server.addr))
	began := time.Now()
	time.Sleep(r.sizes.holdTick)
	seconds := time.Since(began).Seconds()
	look(1)
	all, worst, err := pings.end()
	check(err)
	d := calls[1].Since(calls[0])
	add := func(metric string, value float64) { r.add("held", peer, at, metric+when, value) }
	add("EVALSHA in 10 s", float64(d["evalsha"]+d["eval"])/seconds*10)
	add("server CPU, %", (cpu[1]-cpu[0]).Seconds()/seconds*100)
	add("holder CPU, %", (holder[1].cpu-holder[0].cpu).Seconds()/seconds*100)
	add("µs a script", float64((ran[1]-ran[0]).Microseconds())/float64(max(d["evalsha"], 1)))
	add("PING p99 during, µs", all)
	add("PING p99 during / before", all/before99)
	add("PING p99 worst second during, µs", worst)
	return nil
}

// holdMain runs in the child: it prints that it is ready, and takes n locks when asked.
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
	// Wait until the parent has finished.
	in.Scan()
	return handles[0].unlock(context.Background())
}
