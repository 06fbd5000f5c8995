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

// A fair lock goes to the caller that has waited longest, in Go or in Java.
func ExampleClient_NewFairLock() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"), rlock.WithFairWait(time.Minute))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	tickets := client.NewFairLock("tickets")
	hold, err := tickets.Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	served := make(chan error)
	go func() {
		served <- tickets.Do(ctx, func(context.Context) error { return nil })
	}()
	for waiting := 0; waiting == 0; time.Sleep(time.Millisecond) {
		info, err := tickets.Info(ctx)
		if err != nil {
			log.Fatal(err)
		}
		waiting = info.Waiters
	}
	_, err = tickets.TryLockFor(ctx, time.Second)
	fmt.Println("behind another:", errors.Is(err, rlock.ErrLocked))

	if err := hold.Unlock(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println("served:", <-served == nil)
	// Output:
	// behind another: true
	// served: true
}
