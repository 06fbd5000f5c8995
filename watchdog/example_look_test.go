package watchdog_test

import (
	"fmt"
	"time"

	"github.com/rlock-go/redisson/watchdog"
)

// looked makes a watchdog and a lease. The names of the keys that it looks at come through names.
func looked() (dog *watchdog.Watchdog, lease *watchdog.Lease, names chan string) {
	names = make(chan string, 10)
	dog = watchdog.New(func([]*watchdog.Lease, func(int, watchdog.Answer)) {}, watchdog.Options{
		Clock: clock,
		Look: func(batch []*watchdog.Lease, answer func(i int, read bool)) {
			for i, lease := range batch {
				names <- lease.Holder().(*key).name // a real one reads the key here
				answer(i, true)
			}
		},
	})
	_, lease = take(dog, "orders", time.Minute)
	return dog, lease, names
}

// Somebody has deleted the key, and the server has notified the client. A look finds out whether
// the lease is lost.
func ExampleLease_Changed() {
	dog, lease, names := looked()
	lease.Changed()
	fmt.Println("looked at:", <-names)
	dog.Close()
	// Output:
	// looked at: orders
}

// The owner has written the key itself. That ends the server's notifications about it.
func ExampleLease_Wrote() {
	dog, lease, names := looked()
	fmt.Println("looked at:", <-names) // when it was a second old
	time.Sleep(200 * time.Millisecond) // it is watched by now
	lease.Wrote()
	fmt.Println("looked at:", <-names)
	dog.Close()
	// Output:
	// looked at: orders
	// looked at: orders
}

// The server has announced that all its keys have changed.
func ExampleWatchdog_LookThose() {
	dog, _, names := looked()
	dog.LookThose(func(watchdog.Holder) bool { return true }, true)
	fmt.Println("looked at:", <-names)
	dog.Close()
	// Output:
	// looked at: orders
}

// The look has found that the key is another's.
func ExampleLease_Disown() {
	dog, lease, names := looked()
	lease.Changed()
	<-names
	lease.Disown()
	fmt.Println("trusted:", clock.Now() < lease.Expiry())
	dog.Close()
	// Output:
	// trusted: false
}
