package pubsub_test

import (
	"context"
	"fmt"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/pubsub"
)

// Wait for something to change: look at each wake-up, the first of which says
// that from now on no message is missed.
func Example() {
	hub := pubsub.New(dial, pubsub.Options{})
	defer hub.Close()
	waiter := newFlag()
	sub := hub.Subscribe("news", waiter)
	defer sub.Close()

	<-waiter.C()                 // subscribed
	publish("news", "something") // by another process
	<-waiter.C()
	fmt.Println("look again:", waiter.Err())
	// Output:
	// look again: <nil>
}

// Nothing is dialled before somebody subscribes.
func ExampleNew() {
	hub := pubsub.New(func(context.Context) (redis.Conn, error) {
		panic("nobody subscribes")
	}, pubsub.Options{})
	fmt.Println(hub.Channels(), hub.Close())
	// Output:
	// 0 <nil>
}

// A hub that gives up a silent server sooner and says so at once where waiting
// does not help.
func ExampleOptions() {
	locked := redistest.Start(redistest.Examples, "--requirepass", "secret")
	hub := pubsub.New(func(ctx context.Context) (redis.Conn, error) {
		return redis.DialContext(ctx, "tcp", locked.Addr(), redis.DialPassword("wrong"))
	}, pubsub.Options{
		Timeout:   time.Second,
		MaxRetry:  200 * time.Millisecond,
		Permanent: func(err error) bool { _, refused := err.(redis.Error); return refused },
	})
	defer hub.Close()
	waiter := newFlag()
	defer hub.Subscribe("news", waiter).Close()

	<-waiter.C()
	fmt.Println(waiter.Err() != nil)
	// Output:
	// true
}

// A connection dialled for the hub, or one from a pool, which drops it at the end.
func ExampleDialFunc() {
	pool := &redis.Pool{DialContext: dial}
	defer pool.Close()
	var borrow pubsub.DialFunc = pool.GetContext

	hub := pubsub.New(borrow, pubsub.Options{})
	waiter := newFlag()
	sub := hub.Subscribe("news", waiter)
	<-waiter.C()
	fmt.Println("lent:", pool.ActiveCount())
	sub.Close()
	hub.Close()
	fmt.Println("lent:", pool.ActiveCount())
	// Output:
	// lent: 1
	// lent: 0
}
