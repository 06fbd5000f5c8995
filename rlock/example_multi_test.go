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

// A transfer needs both accounts. A caller that needs only one of them waits as well.
func ExampleNewMultiLock() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	from, to := client.NewLock("account:1"), client.NewLock("account:2")
	err = rlock.NewMultiLock(from, to).Do(ctx, func(ctx context.Context) error {
		_, err := to.TryLock(ctx)
		fmt.Println("the second is taken:", errors.Is(err, rlock.ErrLocked))
		return nil
	}, rlock.Wait(5*time.Second))
	fmt.Println("error:", err)
	// Output:
	// the second is taken: true
	// error: <nil>
}

// Either all are acquired, or none is.
func ExampleMultiLock_TryLock() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	left, right := client.NewLock("left"), client.NewLock("right")
	hold, err := right.Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	_, err = rlock.NewMultiLock(left, right).TryLock(ctx)
	fmt.Println("right is taken:", errors.Is(err, rlock.ErrLocked))
	held, err := left.IsLocked(ctx)
	fmt.Println("left is left alone:", !held && err == nil)
	if err := hold.Unlock(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// right is taken: true
	// left is left alone: true
}

// All members are held until Unlock, each by a separate owner.
func ExampleMultiLock_Lock() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	hold, err := rlock.NewMultiLock(client.NewLock("seat:1"), client.NewLock("seat:2")).Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("held:", len(hold.Holds()), hold.Err())
	if err := hold.Unlock(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println("over:", errors.Is(hold.Err(), rlock.ErrReleased))
	// Output:
	// held: 2 <nil>
	// over: true
}

// The wait is for all members together.
func ExampleMultiLock_TryLockFor() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	left, right := client.NewLock("shelf:left"), client.NewLock("shelf:right")
	taken, err := right.Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	_, err = rlock.NewMultiLock(left, right).TryLockFor(ctx, time.Second)
	fmt.Println("still taken:", errors.Is(err, rlock.ErrLocked))
	if err := taken.Unlock(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// still taken: true
}

// fn's context ends with the first member that is lost.
func ExampleMultiLock_Do() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	stock, orders := client.NewLock("stock:7"), client.NewLock("orders:7")
	err = rlock.NewMultiLock(stock, orders).Do(ctx, func(ctx context.Context) error {
		if _, err := stock.ForceUnlock(context.WithoutCancel(ctx)); err != nil {
			return err
		}
		<-ctx.Done()
		return context.Cause(ctx)
	})
	fmt.Println("lost:", errors.Is(err, rlock.ErrLeaseLost))
	// Output:
	// lost: true
}

// A MultiLock prints the names of its members.
func ExampleMultiLock_String() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	fmt.Println(rlock.NewMultiLock(client.NewLock("a"), client.NewFairLock("b")))
	// Output:
	// rlock.MultiLock("a, b")
}
