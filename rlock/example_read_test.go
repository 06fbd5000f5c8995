package rlock_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

// The answer is about a moment that is over: good for a status page, not for a
// decision, for which there is TryLock.
func ExampleLock_IsLocked() {
	ctx := context.Background()
	lock := connect().NewLock("backup")
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

// The server's word on who is inside.
func ExampleLock_IsHeldBy() {
	ctx := context.Background()
	client := connect()
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

// Each acquisition of an owner counts one.
func ExampleLock_HoldCount() {
	ctx := context.Background()
	client := connect()
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

// How long a lock would keep others out if its holder were gone.
func ExampleLock_RemainTTL() {
	ctx := context.Background()
	lock := connect().NewLock("session")
	_, err := lock.RemainTTL(ctx)
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
