package rlock_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

// The answer is about a moment that is over. It is good for a status page; for a
// decision use TryLock.
func ExampleLock_IsLocked() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	lock := client.NewLock("backup")
	before, err := lock.IsLocked(ctx)
	fmt.Println(before, err)

	hold, err := lock.Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer hold.Unlock(ctx)
	during, err := lock.IsLocked(ctx)
	fmt.Println(during, err)
	// Output:
	// false <nil>
	// true <nil>
}

// The server says who holds the lock.
func ExampleLock_IsHeldBy() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	lock := client.NewLock("ledger")
	hold, err := lock.Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer hold.Unlock(ctx)

	ours, err := lock.IsHeldBy(ctx, hold.Owner())
	fmt.Println("the holder:", ours, err)
	theirs, err := lock.IsHeldBy(ctx, client.NewOwner())
	fmt.Println("somebody else:", theirs, err)
	// Output:
	// the holder: true <nil>
	// somebody else: false <nil>
}

// Each acquisition by an owner counts.
func ExampleLock_HoldCount() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	lock, me := client.NewLock("tree"), client.NewOwner()
	for range 3 {
		hold, err := lock.Lock(ctx, rlock.As(me))
		if err != nil {
			log.Fatal(err)
		}
		defer hold.Unlock(ctx)
	}
	fmt.Println(lock.HoldCount(ctx, me))
	// Output:
	// 3 <nil>
}

// RemainTTL is how long a lock keeps others out if its holder is gone.
func ExampleLock_RemainTTL() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	lock := client.NewLock("session")
	_, err = lock.RemainTTL(ctx)
	fmt.Println("nobody holds it:", errors.Is(err, rlock.ErrNotLocked))

	if _, err := lock.Lock(ctx, rlock.Lease(time.Hour)); err != nil {
		log.Fatal(err)
	}
	left, err := lock.RemainTTL(ctx)
	fmt.Println("about", left.Round(time.Hour), err)
	// Output:
	// nobody holds it: true
	// about 1h0m0s <nil>
}

// A status page shows who holds a lock.
func ExampleLock_Info() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	lock := client.NewLock("export")
	if _, err := lock.Info(ctx); errors.Is(err, rlock.ErrNotLocked) {
		fmt.Println("nobody holds it")
	}

	hold, err := lock.Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer hold.Unlock(ctx)
	info, err := lock.Info(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("this process holds it:", info.Owner == hold.Owner())
	fmt.Println("since:", time.Since(info.Since).Round(time.Minute))
	fmt.Println("holds:", info.Count, "clients that wait:", info.Waiters)
	// Output:
	// nobody holds it
	// this process holds it: true
	// since: 0s
	// holds: 1 clients that wait: 0
}

// Info describes a lock that another process holds.
func ExampleInfo() {
	info := rlock.Info{Count: 1, TTL: 29 * time.Second, Waiters: 2}
	if info.Since.IsZero() {
		fmt.Println("held elsewhere; free in", info.TTL, "unless its holder renews it")
	}
	// Output:
	// held elsewhere; free in 29s unless its holder renews it
}
