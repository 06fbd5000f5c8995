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

// Unlock's error says whether the lock was ours until the end.
func ExampleHold_Unlock() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	hold, err := client.NewLock("payout").Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	// ... the work ...
	switch err := hold.Unlock(ctx); {
	case err == nil:
		fmt.Println("released")
	case errors.Is(err, rlock.ErrLeaseLost):
		fmt.Println("lost on the way: others may have been inside meanwhile")
	case errors.Is(err, rlock.ErrUncertain):
		fmt.Println("no answer: free when its lease ends, if not before")
	default:
		fmt.Println("not released:", err)
	}
	fmt.Println("twice:", errors.Is(hold.Unlock(ctx), rlock.ErrReleased))
	// Output:
	// released
	// twice: true
}

// A holder with a fixed lease asks for more time as it makes progress.
func ExampleHold_Extend() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	lock := client.NewLock("conversion")
	hold, err := lock.Lock(ctx, rlock.Lease(10*time.Second))
	if err != nil {
		log.Fatal(err)
	}
	defer hold.Unlock(ctx)

	// ... a chapter is done, there is another ...
	if err := hold.Extend(ctx, time.Hour); err != nil {
		log.Fatal(err)
	}
	left, err := lock.RemainTTL(ctx)
	fmt.Println("about", left.Round(time.Hour), err)
	// Output:
	// about 1h0m0s <nil>
}

// The context ends with the hold and says why.
func ExampleHold_Context() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	hold, err := client.NewLock("index").Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	held, cancel := hold.Context(ctx) // for queries and requests under the lock
	defer cancel()

	fmt.Println(held.Err())
	if err := hold.Unlock(ctx); err != nil {
		log.Fatal(err)
	}
	<-held.Done()
	fmt.Println(held.Err(), "/", context.Cause(held))
	// Output:
	// <nil>
	// context canceled / rlock: hold "index": already released
}

// Done is for a select; Err then says what happened.
func ExampleHold_Done() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	lock := client.NewLock("leader")
	hold, err := lock.Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	go lock.ForceUnlock(ctx) // somebody takes it away

	select {
	case <-hold.Done():
		fmt.Println("steps down:", errors.Is(hold.Err(), rlock.ErrLeaseLost))
	case <-time.After(time.Minute):
		fmt.Println("has led for a minute")
	}
	// Output:
	// steps down: true
}

// Err reads the clock and is never late, even after the process stood still. So
// ask it last before a step that needs the lock.
func ExampleHold_Err() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	hold, err := client.NewLock("batch").Lock(ctx, rlock.Lease(200*time.Millisecond))
	if err != nil {
		log.Fatal(err)
	}
	steps := 0
	for hold.Err() == nil {
		steps++
		time.Sleep(time.Millisecond)
	}
	fmt.Println(steps > 0, errors.Is(hold.Err(), rlock.ErrLeaseLost))
	// Output:
	// true true
}

// ValidUntil moves with each renewal. It is for people to read.
func ExampleHold_ValidUntil() {
	ctx := context.Background()
	before := time.Now()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	hold, err := client.NewLock("shift").Lock(ctx, rlock.Lease(time.Hour))
	if err != nil {
		log.Fatal(err)
	}
	defer hold.Unlock(ctx)
	// An hour, less 1% for clocks that run at different rates.
	fmt.Println("trusted for", hold.ValidUntil().Sub(before).Round(time.Minute))
	// Output:
	// trusted for 59m0s
}

// A second acquisition names the owner to re-enter.
func ExampleHold_Owner() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	lock := client.NewLock("parent")
	outer, err := lock.Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer outer.Unlock(ctx)
	inner, err := lock.Lock(ctx, rlock.As(outer.Owner()))
	if err != nil {
		log.Fatal(err)
	}
	defer inner.Unlock(ctx)
	fmt.Println(lock.HoldCount(ctx, outer.Owner()))
	// Output:
	// 2 <nil>
}

// A function that gets a hold can see which lock it is for.
func ExampleHold_Name() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	hold, err := client.NewLock("order:4711").Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer hold.Unlock(ctx)
	fmt.Println(hold.Name())
	// Output:
	// order:4711
}

// A hold in a log line names the lock and the owner.
func ExampleHold_String() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	hold, err := client.NewLock("order:4712").Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer hold.Unlock(ctx)
	fmt.Println(fmt.Sprint(hold) == fmt.Sprintf("rlock.Hold(%q, %v)", "order:4712", hold.Owner()))
	// Output:
	// true
}
