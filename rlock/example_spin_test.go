package rlock_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

// A lock that is held for moments: who waits asks again, and nobody is told.
func ExampleClient_NewSpinLock() {
	ctx := context.Background()
	counter := connect().NewSpinLock("counter")
	hold, err := counter.Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	_, err = counter.TryLockFor(ctx, 50*time.Millisecond)
	fmt.Println("taken:", errors.Is(err, rlock.ErrLocked))

	if err := hold.Unlock(ctx); err != nil {
		log.Fatal(err)
	}
	again, err := counter.TryLockFor(ctx, time.Second)
	fmt.Println("free:", err == nil)
	if err := again.Unlock(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// taken: true
	// free: true
}
