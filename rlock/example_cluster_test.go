package rlock_test

import (
	"context"
	"fmt"
	"log"
	"sync"

	"github.com/rlock-go/redisson/internal/redistest"
	"github.com/rlock-go/redisson/internal/topologytest"
	"github.com/rlock-go/redisson/rlock"
)

// clusterURL is a cluster that the examples share. The first one starts it.
var clusterURL = sync.OnceValue(func() string { return topologytest.Start(redistest.Examples, 1, 1).ClusterURL() })

// Where all waiters are of this package, or of Redisson 3.22 and newer, the sharded
// message is enough, and the other nodes of the cluster are spared the plain one.
func ExampleWithClusterPublish() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, clusterURL(), rlock.WithClusterPublish(rlock.PublishSharded))
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

// What is published is for clusters: a single server has one kind of message.
func ExamplePublish() {
	for _, kind := range []rlock.Publish{rlock.PublishBoth, rlock.PublishSharded, rlock.PublishPlain} {
		_, err := rlock.Open(context.Background(), redisURL(), rlock.WithClusterPublish(kind))
		fmt.Println(err)
	}
	// Output:
	// rlock: open: invalid option: WithClusterPublish: it is for redis+cluster:// URLs
	// rlock: open: invalid option: WithClusterPublish: it is for redis+cluster:// URLs
	// rlock: open: invalid option: WithClusterPublish: it is for redis+cluster:// URLs
}
