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

// Unlock releases every member, and joins their errors.
func ExampleMultiHold_Unlock() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	hold, err := rlock.NewMultiLock(client.NewLock("car:1"), client.NewLock("car:2")).Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := client.NewLock("car:1").ForceUnlock(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println("one was lost:", errors.Is(hold.Unlock(ctx), rlock.ErrLeaseLost))
	locked, err := client.NewLock("car:2").IsLocked(ctx)
	fmt.Println("the other is free:", !locked && err == nil)
	// Output:
	// one was lost: true
	// the other is free: true
}

// Each member gets the new lease.
func ExampleMultiHold_Extend() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	hold, err := rlock.NewMultiLock(client.NewLock("film:1"), client.NewLock("film:2")).Lock(ctx, rlock.Lease(10*time.Second))
	if err != nil {
		log.Fatal(err)
	}
	if err := hold.Extend(ctx, time.Hour); err != nil {
		log.Fatal(err)
	}
	fmt.Println("more than 50 minutes:", time.Until(hold.ValidUntil()) > 50*time.Minute)
	if err := hold.Unlock(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// more than 50 minutes: true
}

// A function that gets this context stops when a member is lost.
func ExampleMultiHold_Context() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	hold, err := rlock.NewMultiLock(client.NewLock("boat:1"), client.NewLock("boat:2")).Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	during, cancel := hold.Context(ctx)
	defer cancel()
	fmt.Println("before:", during.Err())
	if _, err := client.NewLock("boat:2").ForceUnlock(ctx); err != nil {
		log.Fatal(err)
	}
	<-during.Done()
	fmt.Println("lost:", errors.Is(context.Cause(during), rlock.ErrLeaseLost))
	_ = hold.Unlock(ctx)
	// Output:
	// before: <nil>
	// lost: true
}

// Done is for a select.
func ExampleMultiHold_Done() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	hold, err := rlock.NewMultiLock(client.NewLock("door:1"), client.NewLock("door:2")).Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	select {
	case <-hold.Done():
		fmt.Println("over")
	default:
		fmt.Println("held")
	}
	if err := hold.Unlock(ctx); err != nil {
		log.Fatal(err)
	}
	<-hold.Done()
	fmt.Println("released")
	// Output:
	// held
	// released
}

// Call Err just before a step that must not happen twice.
func ExampleMultiHold_Err() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	hold, err := rlock.NewMultiLock(client.NewLock("bill:1"), client.NewLock("bill:2")).Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	if err := hold.Err(); err != nil {
		log.Fatal(err)
	}
	fmt.Println("pays")
	if err := hold.Unlock(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// pays
}

// ValidUntil is the end of the member whose lease ends first.
func ExampleMultiHold_ValidUntil() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	hold, err := rlock.NewMultiLock(client.NewLock("room:1"), client.NewLock("room:2")).Lock(ctx, rlock.Lease(time.Minute))
	if err != nil {
		log.Fatal(err)
	}
	left := time.Until(hold.ValidUntil())
	fmt.Println("within the lease:", left > 0 && left < time.Minute)
	if err := hold.Unlock(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// within the lease: true
}

// A member's own hold has its token.
func ExampleMultiHold_Holds() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	both := rlock.NewMultiLock(client.NewLock("ledger"), client.NewFencedLock("ledger:fenced"))
	hold, err := both.Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("token:", hold.Holds()[1].Token())
	if err := hold.Unlock(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// token: 1
}

// A MultiHold prints how many holds it has, and their names.
func ExampleMultiHold_String() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	hold, err := rlock.NewMultiLock(client.NewLock("desk:1"), client.NewLock("desk:2")).Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(hold)
	if err := hold.Unlock(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// rlock.MultiHold(2 holds, "desk:1, desk:2")
}
