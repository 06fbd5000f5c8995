package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"runtime"
	"strconv"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/watchdog"
)

// bareBatch is how many locks a script renews, and bareTick how long all of them take: rlock's numbers.
const (
	bareBatch = watchdog.MaxBatch
	bareTick  = 10 * time.Second
)

// bareMain is a child that renews n locks with rlock's script and does nothing else, in one thread: the scripts are
// encoded beforehand and sent at an even pace, each after the reply to the one before. What other clients lose beside it
// is what they lose to the server's work.
func bareMain(addr, argument string) error {
	n, err := strconv.Atoi(argument)
	if err != nil {
		return err
	}
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	blocking, err := conn.(*net.TCPConn).File()
	if err != nil {
		return err
	}
	defer blocking.Close()
	in := bufio.NewScanner(os.Stdin)
	fmt.Println("ready")
	if !in.Scan() {
		return in.Err()
	}
	batches, err := bareLocks(addr, n)
	if err != nil {
		return err
	}
	fmt.Println(0) // bytes a hold
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
		if _, err := blocking.Write(batches[i]); err != nil {
			return err
		}
		for got := 0; got < len(renewedAll); {
			k, err := blocking.Read(reply[got:])
			if err != nil {
				return err
			}
			got += k
			if string(reply[:got]) != renewedAll[:got] {
				return fmt.Errorf("not all renewed: %.100q", reply[:got])
			}
		}
	}
}

// renewedAll is the reply for a batch.
var renewedAll = func() string {
	b := fmt.Appendf(nil, "*%d\r\n", bareBatch)
	for range bareBatch {
		b = append(b, ":1\r\n"...)
	}
	return string(b)
}()

// bareLocks puts n locks into the server and encodes their renewals.
func bareLocks(addr string, n int) (batches [][]byte, err error) {
	conn, err := redis.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	for first := 0; first+bareBatch <= n; first += bareBatch {
		name := func(i int) string { return fmt.Sprint("held:", first+i) }
		owner := func(i int) string { return fmt.Sprint("00000000-0000-4000-8000-000000000000:", first+i) }
		for i := range bareBatch {
			if err := conn.Send("EVALSHA", luasrc.Lock(nil, name(i), owner(i), lease.Milliseconds()).Args...); err != nil {
				return nil, err
			}
		}
		if _, err := conn.Do(""); err != nil {
			return nil, err
		}
		batches = append(batches, encode("EVALSHA", luasrc.Renew(nil, lease.Milliseconds(), bareBatch, func(i int) (luasrc.Arg, luasrc.Arg) {
			return name(i), owner(i)
		})))
	}
	return batches, nil
}
