package rlock_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

// The string is what Redis holds and what travels to another process.
func ExampleOwner_String() {
	owner, err := rlock.ParseOwner("7f3c1a52-0a49-4d0c-9d5e-2f6b1a0c8d11:42")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(owner) // client 7f3c1a52..., Java's thread 42
	// Output:
	// 7f3c1a52-0a49-4d0c-9d5e-2f6b1a0c8d11:42
}

// Another process enters as the owner that it was told, and so continues what
// the first one began.
func ExampleParseOwner() {
	ctx := context.Background()
	hold, err := connectWith().NewLock("order:18").Lock(ctx, rlock.Lease(time.Minute))
	if err != nil {
		log.Fatal(err)
	}
	message := hold.Owner().String()

	// In the other process:
	owner, err := rlock.ParseOwner(message)
	if err != nil {
		log.Fatal(err)
	}
	lock := connect().NewLock("order:18")
	mine, err := lock.TryLock(ctx, rlock.As(owner))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(lock.HoldCount(ctx, owner))
	fmt.Println(mine.Unlock(ctx), lock.UnlockAs(ctx, owner))
	// Output:
	// 2 <nil>
	// <nil> <nil>
}

// Only what Redisson would write is an owner.
func ExampleParseOwner_refused() {
	_, err := rlock.ParseOwner("worker-3")
	fmt.Println(errors.Is(err, rlock.ErrInvalidOption))
	// Output:
	// true
}
