package rlock_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/rlock-go/redisson/rlock"
)

// One of all processes that run this leads, until ctx ends or the lock is lost.
func ExampleLock_Lead() {
	ctx, stop := context.WithCancel(context.Background()) // as by signal.NotifyContext
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	err = client.NewLock("leader:lead").Lead(ctx, func(ctx context.Context) error {
		fmt.Println("leads")
		stop()
		<-ctx.Done() // it must stop when the lock is lost, too
		return nil
	})
	fmt.Println("told to end:", errors.Is(err, context.Canceled))
	// Output:
	// leads
	// told to end: true
}
