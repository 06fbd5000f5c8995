package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/luasrc"
)

// patient are the peers whose waiters sleep until they are woken. A hundred thousand that poll are no wait but an attack.
var patient = []string{ours, beforeP, rueidisP}

// settled is how long the server must not have heard a command before all are taken to wait.
const settled = time.Second

// runWaiting measures what waiters of one client cost while nothing happens: each at a lock of its own, and all at one.
func runWaiting(r *run) error {
	for _, name := range patient {
		for _, shared := range []bool{false, true} {
			if findPeer(name) == nil || !r.wants(name) {
				continue
			}
			if err := r.wait(name, r.sizes.waiters, shared); err != nil {
				what := fmt.Sprintf("%d waiters, one name: %v", r.sizes.waiters, shared)
				if err := r.failed(name, what, err); err != nil {
					return err
				}
			}
			if err := r.server.clear(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *run) wait(name string, n int, shared bool) error {
	s := spec{prefix: "waited:", callers: n, shared: shared}
	at := fmt.Sprintf("%d waiters, %d locks", n, n)
	if shared {
		at = fmt.Sprintf("%d waiters, 1 lock", n)
	}
	if err := r.occupy(name, s); err != nil {
		return err
	}
	clients, err := r.server.info("clients", "connected_clients")
	if err != nil {
		return err
	}
	serverMemory, err := r.server.info("memory", "used_memory")
	if err != nil {
		return err
	}
	before, err := r.server.commands()
	if err != nil {
		return err
	}
	c, err := startChild("wait", name, r.server.addr, fmt.Sprintf("%d %v", n, shared))
	if err != nil {
		return err
	}
	defer c.close()
	began := time.Now()
	if _, err := c.line(4 * grace); err != nil { // all goroutines run
		return err
	}
	quiet, last, at0 := before, int64(-1), time.Now()
	for time.Since(at0) < settled {
		time.Sleep(settled / 20)
		if quiet, err = r.server.commands(); err != nil {
			return err
		}
		if total := quiet.total(); total != last {
			last, at0 = total, time.Now()
		}
		if time.Since(began) > 6*grace {
			return errHang
		}
	}
	r.add("waiting", name, at, "s until all wait", at0.Sub(began).Seconds())
	if err := c.tell("measure"); err != nil {
		return err
	}
	text, err := c.line(grace)
	if err != nil {
		return err
	}
	var bytes, goroutines float64
	if _, err := fmt.Sscan(text, &bytes, &goroutines); err != nil {
		return err
	}
	r.add("waiting", name, at, "bytes a waiter", bytes)
	r.add("waiting", name, at, "goroutines beside the waiters", goroutines-float64(n))
	after, err := r.server.info("clients", "connected_clients")
	if err != nil {
		return err
	}
	r.add("waiting", name, at, "connections", after-clients)
	memory, err := r.server.info("memory", "used_memory")
	if err != nil {
		return err
	}
	r.add("waiting", name, at, "bytes a waiter in the server", (memory-serverMemory)/float64(n))
	d := quiet.since(before)
	r.add("waiting", name, at, "commands a waiter", float64(d["evalsha"]+d["subscribe"])/float64(n))
	r.say("waiting, %s, %s: done", name, at)
	return nil
}

// occupy has somebody else hold every lock that will be wanted.
func (r *run) occupy(name string, s spec) error {
	locks := s.callers
	if s.shared {
		locks = 1
	}
	for i := range locks {
		var err error
		switch name {
		case ours, beforeP:
			c := luasrc.Lock(nil, s.name(i), codec.Owner([16]byte{6: 0x40, 8: 0x80}, 1), time.Hour.Milliseconds())
			err = r.server.conn.Send("EVALSHA", c.Args...)
		case rueidisP:
			err = r.server.conn.Send("SET", "rueidislock:0:"+s.name(i), "somebody", "PX", time.Hour.Milliseconds())
		}
		if err != nil {
			return err
		}
		if i%1000 == 999 || i == locks-1 {
			if _, err := r.server.conn.Do(""); err != nil {
				return err
			}
		}
	}
	return nil
}

// waitMain is the child: goroutines that wait for what they won't get.
func waitMain(c client, argument string) error {
	count, shared, _ := strings.Cut(argument, " ")
	n, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	s := spec{prefix: "waited:", callers: n, shared: shared == "true"}
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
	// The channel's room is not the waiters'.
	room := float64(n) * 16
	fmt.Println((liveBytes()-before-room)/float64(n), runtime.NumGoroutine()-others)
	in.Scan()
	return nil
}
