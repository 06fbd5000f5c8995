package watchdog_test

import (
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/watchdog"
)

// A RenewFunc that gives plain keys a new TTL, one command a key. It answers
// each lease once, from another goroutine.
func ExampleRenewFunc() {
	const ttl = 1500 * time.Millisecond
	conn := dial()
	asked := make(chan string, 100)
	var renew watchdog.RenewFunc = func(batch []*watchdog.Lease, answer func(int, watchdog.Answer)) {
		go func() {
			for i, lease := range batch {
				name := lease.Holder().(*key).name
				sent := clock.Now() // trust counts from before the command
				done, err := redis.Bool(conn.Do("PEXPIRE", name, ttl.Milliseconds()))
				a := watchdog.Answer{Result: watchdog.Renewed, Sent: sent, TTL: ttl}
				if err != nil {
					a = watchdog.Answer{Result: watchdog.Failed} // tried again
				} else if !done {
					a = watchdog.Answer{Result: watchdog.NotOwned}
				}
				answer(i, a)
				asked <- name
			}
		}()
	}
	dog := watchdog.New(renew, watchdog.Options{TTL: ttl, Clock: clock})
	_, lease := take(dog, "plain", ttl)
	fmt.Println("renewed:", <-asked)
	lease.Forget()
	dog.Close()
	// Output:
	// renewed: plain
}

// A renewal that worked: what the server counts, and since when.
func ExampleAnswer() {
	sent := 20 * time.Second
	a := watchdog.Answer{Result: watchdog.Renewed, Sent: sent, TTL: 30 * time.Second}
	fmt.Println(watchdog.Trust(a.Sent, a.TTL))
	// Output:
	// 49.7s
}

// What a reply and an error mean for the lease.
func ExampleResult() {
	result := func(reply int64, err error) watchdog.Result {
		switch {
		case err != nil:
			return watchdog.Failed // tried again while trust lasts
		case reply == 0:
			return watchdog.NotOwned // lost
		default:
			return watchdog.Renewed
		}
	}
	fmt.Println(result(1, nil) == watchdog.Renewed)
	fmt.Println(result(0, nil) == watchdog.NotOwned)
	fmt.Println(result(0, errors.New("timeout")) == watchdog.Failed)
	// Output:
	// true
	// true
	// true
}

// worker is a Holder that stops when its lease is lost.
type worker struct {
	*key
	stop chan struct{}
}

func (w worker) LeaseLost(_ *watchdog.Lease, cause error) {
	fmt.Println("stops:", cause)
	close(w.stop) // and returns at once: every other lease waits behind it
}

// Somebody deletes the key, and the holder is told at the next renewal.
func ExampleHolder() {
	conn := dial()
	var renew watchdog.RenewFunc = func(batch []*watchdog.Lease, answer func(int, watchdog.Answer)) {
		for i, lease := range batch {
			n, err := redis.Int(conn.Do("EXISTS", lease.Holder().(worker).name))
			if err != nil {
				log.Fatal(err)
			}
			if n == 0 {
				answer(i, watchdog.Answer{Result: watchdog.NotOwned})
			}
		}
	}
	dog := watchdog.New(renew, watchdog.Options{TTL: 1500 * time.Millisecond, Clock: clock})
	defer dog.Close()
	w := worker{newKey("deleted"), make(chan struct{})}
	now := clock.Now()
	dog.Register(w).Live(watchdog.Trust(now, 1500*time.Millisecond), now, watchdog.Never)
	<-w.stop
	// Output:
	// stops: watchdog: the server says the lease is not ours
}

// The server was replaced: what it has of the leases is asked at once, not when
// they are due.
func ExampleWatchdog_RenewNow() {
	asked := make(chan int, 100)
	dog := watchdog.New(func(batch []*watchdog.Lease, answer func(int, watchdog.Answer)) {
		asked <- len(batch)
		for i := range batch {
			answer(i, watchdog.Answer{Result: watchdog.Renewed, Sent: clock.Now(), TTL: time.Hour})
		}
	}, watchdog.Options{TTL: time.Hour, Clock: clock})
	defer dog.Close()
	lease := dog.Register(&key{name: "held"})
	lease.Live(watchdog.Trust(clock.Now(), time.Hour), clock.Now(), watchdog.Never)

	dog.RenewNow()
	fmt.Println("asked about", <-asked)
	// Output:
	// asked about 1
}

// Some of the leases are served by another server now: those are asked about at
// once.
func ExampleWatchdog_RenewThose() {
	asked := make(chan string, 100)
	dog := watchdog.New(func(batch []*watchdog.Lease, answer func(int, watchdog.Answer)) {
		for i, l := range batch {
			asked <- l.Holder().(*key).name
			answer(i, watchdog.Answer{Result: watchdog.Renewed, Sent: clock.Now(), TTL: time.Hour})
		}
	}, watchdog.Options{TTL: time.Hour, Clock: clock})
	defer dog.Close()
	for _, name := range []string{"moved", "stays"} {
		lease := dog.Register(&key{name: name})
		lease.Live(watchdog.Trust(clock.Now(), time.Hour), clock.Now(), watchdog.Never)
	}

	dog.RenewThose(func(h watchdog.Holder) bool { return h.(*key).name == "moved" })
	fmt.Println("asked about", <-asked)
	// Output:
	// asked about moved
}

// Failing is for those who watch over the watchdog: are leases at risk?
func ExampleWatchdog_Failing() {
	tried := make(chan struct{}, 100)
	dog := watchdog.New(func(batch []*watchdog.Lease, answer func(int, watchdog.Answer)) {
		for i := range batch {
			answer(i, watchdog.Answer{Result: watchdog.Failed})
		}
		tried <- struct{}{}
	}, watchdog.Options{TTL: time.Hour, Clock: clock})
	defer dog.Close()
	lease := dog.Register(&key{name: "held"})
	lease.Live(watchdog.Trust(clock.Now(), time.Hour), clock.Now(), watchdog.Never)
	before := dog.Failing()
	dog.RenewNow()
	<-tried
	fmt.Println(before, dog.Failing())
	// Output:
	// 0 1
}
