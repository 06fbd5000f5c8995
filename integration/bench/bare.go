package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/watchdog"
)

// bareBatch is how many locks a script renews, bareTick how long it takes to renew all. Both are rlock's numbers.
const (
	bareBatch = watchdog.MaxBatch
	bareTick  = 10 * time.Second
)

// bareMain runs in a child that renews n locks with rlock's script and does nothing else, in one thread. The scripts
// are encoded in advance and sent at an even pace, each after the reply to the one before. What other clients lose
// meanwhile, they lose to the server's work.
func bareMain(addr, argument string) (err error) {
	defer caught(&err)
	n := must(strconv.Atoi(argument))
	blocking := must(dialFile(addr))
	defer blocking.Close()
	in := bufio.NewScanner(os.Stdin)
	fmt.Println("ready")
	if !in.Scan() {
		return in.Err()
	}
	batches := must(bareLocks(addr, n))
	fmt.Println(0) // bytes per hold
	go func() {
		in.Scan()
		os.Exit(0)
	}()

	runtime.LockOSThread()
	reply := make([]byte, 4096)
	pause := bareTick / time.Duration(len(batches))
	next := time.Now()
	for i := 0; ; i = (i + 1) % len(batches) {
		next = next.Add(pause)
		nap(time.Until(next))
		must(blocking.Write(batches[i]))
		for got := 0; got < len(renewedAll); {
			k := must(blocking.Read(reply[got:]))
			got += k
			if string(reply[:got]) != renewedAll[:got] {
				return fmt.Errorf("not all renewed: %.100q", reply[:got])
			}
		}
	}
}

// renewedAll is the reply to a batch whose locks are all renewed.
var renewedAll = func() string {
	b := fmt.Appendf(nil, "*%d\r\n", bareBatch)
	for range bareBatch {
		b = append(b, ":1\r\n"...)
	}
	return string(b)
}()

// bareLocks puts n locks into the server and encodes their renewals.
func bareLocks(addr string, n int) (batches [][]byte, err error) {
	defer caught(&err)
	conn := must(redis.Dial("tcp", addr))
	defer conn.Close()
	for first := 0; first+bareBatch <= n; first += bareBatch {
		name := func(i int) string { return fmt.Sprint("held:", first+i) }
		owner := func(i int) string { return fmt.Sprint("00000000-0000-4000-8000-000000000000:", first+i) }
		for i := range bareBatch {
			check(conn.Send("EVALSHA", luasrc.Lock(nil, name(i), owner(i), lease.Milliseconds()).Args...))
		}
		must(conn.Do(""))
		batches = append(batches, encode("EVALSHA", luasrc.Renew(nil, lease.Milliseconds(), bareBatch, func(i int) (luasrc.Arg, luasrc.Arg) {
			return name(i), owner(i)
		})))
	}
	return batches, nil
}
