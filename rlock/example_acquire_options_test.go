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

// A fixed lease ends by itself: the watchdog does not extend it.
func ExampleLease() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	lock := client.NewLock("newsletter")
	if _, err := lock.Lock(ctx, rlock.Lease(200*time.Millisecond)); err != nil {
		log.Fatal(err)
	}
	// Not released: the next caller enters when the lease has ended.
	hold, err := lock.Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("the next one is inside:", hold.Err() == nil)
	fmt.Println("and releases:", hold.Unlock(ctx) == nil)
	// Output:
	// the next one is inside: true
	// and releases: true
}

// Work stops while the lock still keeps others out.
func ExampleMargin() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	lock := client.NewLock("import")
	err = lock.Do(ctx, func(ctx context.Context) error {
		<-ctx.Done() // an import that takes too long, which stops now
		_, err := lock.TryLock(context.WithoutCancel(ctx))
		fmt.Println("nobody else is inside:", errors.Is(err, rlock.ErrLocked))
		return nil
	}, rlock.Lease(2*time.Second), rlock.Margin(time.Second))
	fmt.Println("and the lock was not lost:", err == nil)
	// Output:
	// nobody else is inside: true
	// and the lock was not lost: true
}

// Without MaxHold, the watchdog would keep a stuck holder's lock for ever.
func ExampleMaxHold() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"), rlock.WithWatchdogTimeout(300*time.Millisecond))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	hold, err := client.NewLock("crawler").Lock(ctx, rlock.MaxHold(300*time.Millisecond))
	if err != nil {
		log.Fatal(err)
	}
	<-hold.Done() // stuck
	fmt.Println("let go at last:", errors.Is(hold.Err(), rlock.ErrLeaseLost))
	// Output:
	// let go at last: true
}

// Do waits until its context ends, unless Wait sets a limit.
func ExampleWait() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	lock := client.NewLock("printer")
	if _, err := lock.Lock(ctx, rlock.Lease(time.Minute)); err != nil {
		log.Fatal(err)
	}
	err = lock.Do(ctx, func(context.Context) error {
		fmt.Println("prints")
		return nil
	}, rlock.Wait(time.Second))
	fmt.Println("busy, come back later:", errors.Is(err, rlock.ErrLocked))
	// Output:
	// busy, come back later: true
}

// As asks for re-entry: an acquisition in the name of an owner that already
// holds the lock does not wait.
func ExampleAs() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	lock, me := client.NewLock("account:7"), client.NewOwner()

	post := func(ctx context.Context) error { // takes the lock itself
		return lock.Do(ctx, func(ctx context.Context) error {
			count, err := lock.HoldCount(ctx, me)
			fmt.Println("posts, with", count, "holds")
			return err
		}, rlock.As(me))
	}
	err = lock.Do(ctx, func(ctx context.Context) error {
		_, err := lock.TryLock(ctx)
		fmt.Println("without As it is taken:", errors.Is(err, rlock.ErrLocked))
		return post(ctx)
	}, rlock.As(me))
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// without As it is taken: true
	// posts, with 2 holds
}

// A job that takes a moment runs once an hour in a fleet, though the machines' clocks differ.
func ExampleAtLeast() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	mails := client.NewLock("mails:at-least")
	send := func(context.Context) error { fmt.Println("sends"); return nil }
	for range 3 { // machines
		if err := mails.Do(ctx, send, rlock.Wait(0), rlock.AtLeast(50*time.Minute)); err != nil {
			fmt.Println("another has sent them:", errors.Is(err, rlock.ErrLocked))
		}
	}
	// Output:
	// sends
	// another has sent them: true
	// another has sent them: true
}
