package rlock_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/rlock"
)

// A client, a lock, and one acquisition of it.
func Example() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, redisURL())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	hold, err := client.NewLock("invoices").Lock(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("inside", hold.Name())
	if err := hold.Unlock(ctx); err != nil {
		fmt.Println(err)
	}
	fmt.Println(hold.Err())
	// Output:
	// inside invoices
	// hold already released
}

// The context that the function gets ends with the hold. Here somebody else
// takes the lock away while the work goes on.
func ExampleLock_Do() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, redisURL())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	lock := client.NewLock("report")
	err = lock.Do(ctx, func(held context.Context) error {
		if _, err := lock.ForceUnlock(ctx); err != nil {
			return err
		}
		<-held.Done()
		fmt.Println("stopped because of the loss:", errors.Is(context.Cause(held), rlock.ErrLeaseLost))
		return nil
	})
	fmt.Println("reported:", errors.Is(err, rlock.ErrLeaseLost))
	// Output:
	// stopped because of the loss: true
	// reported: true
}

// One attempt, for work that somebody else may as well do.
func ExampleLock_TryLock() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, redisURL())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	lock := client.NewLock("clean-up")
	for range 2 {
		_, err := lock.TryLock(ctx, rlock.Lease(time.Minute))
		switch {
		case errors.Is(err, rlock.ErrLocked):
			fmt.Println("somebody is at it")
		case err != nil:
			fmt.Println(err)
		default:
			fmt.Println("ours for a minute") // not released: once a minute is enough
		}
	}
	// Output:
	// ours for a minute
	// somebody is at it
}

// Re-entry is asked for: an acquisition in the name of an owner that holds the
// lock already does not wait.
func ExampleAs() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	client, err := rlock.Open(ctx, redisURL())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	lock := client.NewLock("account:7")
	err = lock.Do(ctx, func(ctx context.Context) error {
		_, err := lock.TryLock(ctx)
		fmt.Println("without As:", errors.Is(err, rlock.ErrLocked))
		return nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	owner := client.NewOwner()
	err = lock.Do(ctx, func(ctx context.Context) error {
		return lock.Do(ctx, func(ctx context.Context) error {
			holds, err := lock.HoldCount(ctx, owner)
			fmt.Println("with As:", holds, "holds")
			return err
		}, rlock.As(owner))
	}, rlock.As(owner))
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// without As: true
	// with As: 2 holds
}

// A fixed lease ends by itself. Its holder may ask for more.
func ExampleLease() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, redisURL())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	lock := client.NewLock("import")
	hold, err := lock.Lock(ctx, rlock.Lease(10*time.Second))
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := hold.Extend(ctx, time.Minute); err != nil {
		fmt.Println(err)
	}
	left, err := lock.RemainTTL(ctx)
	fmt.Println("about a minute:", left > 10*time.Second && left <= time.Minute, err)
	if err := hold.Unlock(ctx); err != nil {
		fmt.Println(err)
	}
	// Output:
	// about a minute: true <nil>
}

// An application that has a pool lends two of its connections.
func ExampleNew() {
	pool := &redis.Pool{
		DialContext: func(ctx context.Context) (redis.Conn, error) {
			return redis.DialURLContext(ctx, redisURL(),
				redis.DialConnectTimeout(3*time.Second),
				redis.DialReadTimeout(3*time.Second),
				redis.DialWriteTimeout(3*time.Second))
		},
		MaxIdle: 4,
	}
	defer pool.Close()

	client, err := rlock.New(pool)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close() // returns what was lent

	err = client.NewLock("pooled").Do(context.Background(), func(context.Context) error {
		fmt.Println("inside")
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// inside
}
