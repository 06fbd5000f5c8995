// First is the program at the top of README.md; a test compares the two, and runs it.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

func main() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, "redis://localhost:6379") // one client per process
	if err != nil {
		log.Fatal(err)
	}
	invoices := client.NewLock("invoices") // in Java: redisson.getLock("invoices")
	err = invoices.Do(ctx, settle, rlock.Wait(5*time.Second))
	if errors.Is(err, rlock.ErrLocked) {
		fmt.Println("another process had the lock for five seconds")
		err = nil
	}
	if err := errors.Join(err, client.Close()); err != nil {
		log.Fatal(err)
	}
}

// settle is the work. The lock is renewed while it runs, and ctx ends if it is lost.
func settle(ctx context.Context) error {
	fmt.Println("this process has the lock")
	return ctx.Err()
}
