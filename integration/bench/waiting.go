package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/luasrc"
)

// patient are the peers whose waiters sleep until woken. A hundred thousand that poll would be an attack.
var patient = []string{ours, beforeP, rueidisP}

// settled is how long the server must receive no command until all count as waiting.
const settled = time.Second

// runWaiting measures what waiters of one client cost while nothing happens: each at its own lock, and all at one.
func runWaiting(r *run) (err error) {
	defer caught(&err)
	for _, name := range patient {
		for _, shared := range []bool{false, true} {
			if findPeer(name) == nil || !r.wants(name) {
				continue
			}
			if err := r.wait(name, r.sizes.waiters, shared); err != nil {
				what := fmt.Sprintf("%d waiters, one name: %v", r.sizes.waiters, shared)
				check(r.failed(name, what, err))
			}
			check(r.server.clear())
		}
	}
	return nil
}

func (r *run) wait(name string, n int, shared bool) (err error) {
	defer caught(&err)
	s := spec{prefix: "waited:", callers: n, shared: shared}
	at := fmt.Sprintf("%d waiters, %d locks", n, n)
	if shared {
		at = fmt.Sprintf("%d waiters, 1 lock", n)
	}
	check(r.occupy(name, s))
	clients := must(r.server.info("clients", "connected_clients"))
	serverMemory := must(r.server.info("memory", "used_memory"))
	before := must(r.server.commands())
	c := must(startChild("wait", name, r.server.addr, fmt.Sprintf("%d %v", n, shared)))
	defer c.close()
	began := time.Now()
	must(c.line(4 * grace)) // all goroutines run
	quiet, since, err := r.settle(settled, 6*grace)
	check(err)
	r.add("waiting", name, at, "s until all wait", since.Sub(began).Seconds())
	check(c.tell("measure"))
	var bytes, goroutines float64
	must(fmt.Sscan(must(c.line(grace)), &bytes, &goroutines))
	r.add("waiting", name, at, "bytes a waiter", bytes)
	r.add("waiting", name, at, "goroutines beside the waiters", goroutines-float64(n))
	after := must(r.server.info("clients", "connected_clients"))
	r.add("waiting", name, at, "connections", after-clients)
	memory := must(r.server.info("memory", "used_memory"))
	r.add("waiting", name, at, "bytes a waiter in the server", (memory-serverMemory)/float64(n))
	d := quiet.Since(before)
	r.add("waiting", name, at, "commands a waiter", float64(d["evalsha"]+d["subscribe"])/float64(n))
	r.say("waiting, %s, %s: done", name, at)
	return nil
}

// occupy makes another owner hold every lock that will be requested.
func (r *run) occupy(name string, s spec) (err error) {
	defer caught(&err)
	locks := s.callers
	if s.shared {
		locks = 1
	}
	for i := range locks {
		switch name {
		case ours, beforeP:
			c := luasrc.Lock(nil, s.name(i), codec.Owner([16]byte{6: 0x40, 8: 0x80}, 1), time.Hour.Milliseconds())
			check(r.server.conn.Send("EVALSHA", c.Args...))
		case rueidisP:
			check(r.server.conn.Send("SET", "rueidislock:0:"+s.name(i), "somebody", "PX", time.Hour.Milliseconds()))
		}
		if i%1000 == 999 || i == locks-1 {
			must(r.server.conn.Do(""))
		}
	}
	return nil
}

// waitMain runs in the child: its goroutines wait for locks that they never get.
func waitMain(c client, argument string) (err error) {
	defer caught(&err)
	var n int
	s := spec{prefix: "waited:"}
	must(fmt.Sscan(argument, &n, &s.shared))
	s.callers = n
	before, others := liveBytes(), runtime.NumGoroutine()
	granted := make(chan error, n)
	for i := range n {
		go func() { granted <- c.handle(s.name(i)).lock(context.Background()) }()
	}
	fmt.Println("ready")
	in := bufio.NewScanner(os.Stdin)
	if !in.Scan() {
		return in.Err()
	}
	select {
	case err := <-granted:
		return fmt.Errorf("a lock was granted that somebody else holds, or refused: %v", err)
	default:
	}
	// The channel's buffer is not the waiters'.
	room := float64(n) * 16
	fmt.Println((liveBytes()-before-room)/float64(n), runtime.NumGoroutine()-others)
	in.Scan()
	return nil
}
