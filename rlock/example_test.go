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

// A client, a lock, and work under it.
func Example() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL")) // redis://localhost:6379
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	err = client.NewLock("invoices").Do(ctx, func(ctx context.Context) error {
		fmt.Println("nobody else is at the invoices")
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// nobody else is at the invoices
}

// Which errors of an acquire ask for a decision.
func Example_errors() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	lock := client.NewLock("stock")
	if _, err := lock.Lock(ctx, rlock.Lease(time.Minute)); err != nil {
		log.Fatal(err)
	}

	_, err = lock.TryLockFor(ctx, time.Second)
	switch {
	case err == nil:
		fmt.Println("inside")
	case errors.Is(err, rlock.ErrLocked):
		fmt.Println("busy: come back later")
	case errors.Is(err, rlock.ErrClosed):
		fmt.Println("this process is ending")
	case errors.Is(err, rlock.ErrUncertain):
		fmt.Println("the server is silent; what it may have granted is given back")
	case ctx.Err() != nil:
		fmt.Println("nobody waits for the result any more")
	default:
		fmt.Println("the server refuses, or can't be reached:", err)
	}
	// Output:
	// busy: come back later
}
