package watchdog_test

import (
	"fmt"
	"time"

	"github.com/rlock-go/redisson/watchdog"
)

// A fixed lease: guarded until its end, never renewed.
func ExampleLease_Live() {
	dog := guarding(30 * time.Second)
	defer dog.Close()
	k := newKey("ticket")
	lease := dog.Register(k)
	sent := clock.Now()
	// ... the acquire is sent, and granted for half a second ...
	live := lease.Live(watchdog.Trust(sent, time.Second/2), watchdog.Never, watchdog.Never)
	fmt.Println(live, <-k.lost == watchdog.ErrExpired)
	// Output:
	// true true
}

// Until when the key may be relied on, without asking anybody.
func ExampleLease_Expiry() {
	dog := guarding(time.Minute)
	defer dog.Close()
	_, lease := take(dog, "desk", time.Minute)
	fmt.Println("still ours:", clock.Now() < lease.Expiry())
	// Output:
	// still ours: true
}

// A log of renewals that failed leaves out what has been released meanwhile.
func ExampleLease_Alive() {
	dog := guarding(time.Minute)
	defer dog.Close()
	_, lease := take(dog, "lamp", time.Minute)
	fmt.Println(lease.Alive())
	lease.Forget()
	fmt.Println(lease.Alive())
	// Output:
	// true
	// false
}

// Forget comes before the release is sent: no renewal outlives the hold.
func ExampleLease_Forget() {
	dog := guarding(30 * time.Second)
	defer dog.Close()
	_, lease := take(dog, "bench", 30*time.Second)
	lease.Forget()
	// ... DEL bench ...
	fmt.Println(lease.Live(watchdog.Never, clock.Now(), watchdog.Never))
	// Output:
	// false
}

// A RenewFunc finds in the holder what to renew.
func ExampleLease_Holder() {
	dog := guarding(30 * time.Second)
	defer dog.Close()
	_, lease := take(dog, "chair", 30*time.Second)
	fmt.Println(lease.Holder().(*key).name)
	// Output:
	// chair
}

// A command of somebody else gave the key a TTL that may be the shorter one.
func ExampleLease_Lower() {
	dog := guarding(time.Hour)
	defer dog.Close()
	_, lease := take(dog, "shared", time.Hour)
	now := clock.Now()
	lease.Lower(now + 2*time.Hour) // later than it is: nothing
	fmt.Println((lease.Expiry() - now).Round(time.Minute))
	lease.Lower(now + 10*time.Minute)
	fmt.Println((lease.Expiry() - now).Round(time.Minute))
	// Output:
	// 59m0s
	// 10m0s
}

// It is renewed for a while yet, and then ends by itself.
func ExampleLease_RenewUntil() {
	dog := guarding(150 * time.Millisecond)
	defer dog.Close()
	k, lease := take(dog, "bounded", 150*time.Millisecond)
	lease.RenewUntil(clock.Now() + 300*time.Millisecond)
	fmt.Println(<-k.lost == watchdog.ErrExpired)
	// Output:
	// true
}

// A holder that wants to know something before the lease's end.
func ExampleLease_SetAlarm() {
	dog := guarding(time.Minute)
	defer dog.Close()
	k, lease := take(dog, "meeting", time.Minute)
	at := clock.Now() + 20*time.Millisecond
	lease.SetAlarm(at)
	rung := <-k.alarm
	fmt.Println(rung >= at, clock.Now() < lease.Expiry())
	// Output:
	// true true
}
