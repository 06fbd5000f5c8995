package watchdog_test

import (
	"fmt"
	"log"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/watchdog"
)

// A key is taken, kept for longer than its TTL, and lost when somebody deletes
// it.
func Example() {
	const ttl = 1500 * time.Millisecond
	conn, dog := dial(), watchdog.New(renewer(ttl), watchdog.Options{TTL: ttl, Clock: clock})
	defer dog.Close()

	k := newKey("seat")
	lease := dog.Register(k) // before the acquire is sent
	sent := clock.Now()
	if _, err := redis.String(conn.Do("SET", k.name, "mine", "NX", "PX", ttl.Milliseconds())); err != nil {
		lease.Forget()
		log.Fatal(err)
	}
	lease.Live(watchdog.Trust(sent, ttl), sent, watchdog.Never)

	time.Sleep(ttl + 100*time.Millisecond)
	fmt.Println(redis.Bool(conn.Do("EXISTS", "seat")))
	if _, err := conn.Do("DEL", "seat"); err != nil {
		log.Fatal(err)
	}
	fmt.Println(<-k.lost)
	// Output:
	// true <nil>
	// watchdog: the server says the lease is not ours
}

// A watchdog costs nothing while it has no lease.
func ExampleNew() {
	dog := watchdog.New(renewer(30*time.Second), watchdog.Options{})
	defer dog.Close()
	fmt.Println(dog.Failing())
	// Output:
	// 0
}

// Settings for leases of a minute.
func ExampleOptions() {
	o := watchdog.Options{
		TTL:   time.Minute, // renewed each 20 s
		Clock: clock,
	}
	dog := watchdog.New(renewer(o.TTL), o)
	defer dog.Close()
	_, lease := take(dog, "minute", o.TTL)
	fmt.Println((lease.Expiry() - clock.Now()).Round(time.Second))
	// Output:
	// 59s
}

// A lease is known before its acquire is sent, so that no grant goes unguarded.
func ExampleWatchdog_Register() {
	dog := guarding(30 * time.Second)
	defer dog.Close()
	lease := dog.Register(newKey("table"))
	sent := clock.Now()
	// ... the acquire is sent, and granted ...
	fmt.Println(lease.Live(watchdog.Trust(sent, 30*time.Second), sent, watchdog.Never))
	// Output:
	// true
}

// seat keeps its lease in a field, which saves an allocation.
type seat struct {
	*key
	lease watchdog.Lease
}

// The holder's own memory serves for one registration.
func ExampleWatchdog_RegisterAt() {
	dog := guarding(30 * time.Second)
	defer dog.Close()
	s := &seat{key: newKey("aisle")}
	dog.RegisterAt(&s.lease, s)
	fmt.Println(s.lease.Holder() == s)
	s.lease.Forget()
	// Output:
	// true
}

// Close tells nobody: whoever closes knows.
func ExampleWatchdog_Close() {
	dog := guarding(30 * time.Second)
	k, lease := take(dog, "closing", 30*time.Second)
	dog.Close()
	fmt.Println(len(k.lost), lease.Live(watchdog.Never, watchdog.Never, watchdog.Never))
	// Output:
	// 0 false
}

// Trust begins when the command is sent and is 1% shorter than the TTL.
func ExampleTrust() {
	sent := 10 * time.Second // by the watchdog's clock
	fmt.Println(watchdog.Trust(sent, 30*time.Second))
	// Output:
	// 39.7s
}

// The TTL to ask for where trust has to last a given time.
func ExampleLasting() {
	ttl := watchdog.Lasting(10 * time.Second)
	fmt.Println(ttl.Round(time.Millisecond), watchdog.Trust(0, ttl).Round(time.Millisecond))
	// Output:
	// 10.101s 10s
}

// Time since the program began, with Go's monotonic clock.
func ExampleClock() {
	var c watchdog.Clock = clock
	a := c.Now()
	b := c.Now()
	fmt.Println(a <= b)
	// Output:
	// true
}
