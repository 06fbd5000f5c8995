package rlock_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/rlock-go/redisson/rlock"
)

// If all waiters use this package, or Redisson from 3.29 on with shardedSubscriptionMode not OFF,
// the sharded message is enough, and the other nodes of the cluster don't get the plain one.
func ExampleWithClusterPublish() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_CLUSTER_URL"), rlock.WithClusterPublish(rlock.PublishSharded))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	err = client.NewLock("orders").Do(ctx, func(context.Context) error {
		fmt.Println("inside")
		return nil
	})
	fmt.Println(err)
	// Output:
	// inside
	// <nil>
}

// The option is for clusters only: a single server has one kind of message.
func ExamplePublish() {
	for _, kind := range []rlock.Publish{rlock.PublishBoth, rlock.PublishSharded, rlock.PublishPlain} {
		_, err := rlock.Open(context.Background(), os.Getenv("REDIS_URL"), rlock.WithClusterPublish(kind))
		fmt.Println(err)
	}
	// Output:
	// rlock: open: invalid option: WithClusterPublish: it is for redis+cluster:// URLs
	// rlock: open: invalid option: WithClusterPublish: it is for redis+cluster:// URLs
	// rlock: open: invalid option: WithClusterPublish: it is for redis+cluster:// URLs
}
