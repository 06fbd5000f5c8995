package rlock_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/rlock-go/redisson/rlock"
)

// A nested acquire by the same owner is a mistake, and returns an error.
func ExampleClient_NewNonReentrantLock() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	lock := client.NewNonReentrantLock("till")
	hold, err := lock.Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	_, err = lock.Lock(ctx, rlock.As(hold.Owner()))
	fmt.Println("entered twice:", errors.Is(err, rlock.ErrReentered))
	if err := hold.Unlock(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// entered twice: true
}
