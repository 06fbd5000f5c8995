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

// Waiters of a spin lock poll, and a release sends no message. It suits a lock that is held only
// for moments.
func ExampleClient_NewSpinLock() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	counter := client.NewSpinLock("counter")
	hold, err := counter.Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	_, err = counter.TryLockFor(ctx, time.Second)
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
