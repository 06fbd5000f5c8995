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

// Lock waits until ctx ends.
func ExampleLock_Lock() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	hold, err := client.NewLock("invoices").Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer hold.Unlock(ctx) // sends even if ctx is over by then

	fmt.Println("inside", hold.Name())
	// Output:
	// inside invoices
}

// A wait ends with its context, and then holds nothing.
func ExampleLock_Lock_cancelled() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	lock := client.NewLock("busy")
	if _, err := lock.Lock(ctx, rlock.Lease(time.Minute)); err != nil {
		log.Fatal(err)
	}

	brief, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	_, err = lock.Lock(brief)
	fmt.Println(errors.Is(err, context.DeadlineExceeded))
	// Output:
	// true
}

// One attempt is enough for work that somebody else can do as well.
func ExampleLock_TryLock() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	lock := client.NewLock("clean-up")
	for range 2 {
		_, err := lock.TryLock(ctx, rlock.Lease(time.Minute))
		switch {
		case errors.Is(err, rlock.ErrLocked):
			fmt.Println("somebody is at it")
		case err != nil:
			log.Fatal(err)
		default:
			fmt.Println("ours for a minute") // not released: once a minute is enough
		}
	}
	// Output:
	// ours for a minute
	// somebody is at it
}

// Wait for a while, then go on without the lock.
func ExampleLock_TryLockFor() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	lock := client.NewLock("cache:prices")
	if _, err := lock.Lock(ctx, rlock.Lease(time.Minute)); err != nil {
		log.Fatal(err)
	}

	hold, err := lock.TryLockFor(ctx, time.Second)
	if errors.Is(err, rlock.ErrLocked) {
		fmt.Println("serves the old prices")
		return
	} else if err != nil {
		log.Fatal(err)
	}
	defer hold.Unlock(ctx)
	fmt.Println("fetches new prices")
	// Output:
	// serves the old prices
}

// Do acquires, runs the function and releases, also when it panics.
func ExampleLock_Do() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	lock := client.NewLock("report")
	failure := errors.New("no paper")
	err = lock.Do(ctx, func(ctx context.Context) error {
		fmt.Println("prints")
		return failure
	})
	fmt.Println(err)

	locked, err := lock.IsLocked(ctx)
	fmt.Println("released:", !locked, err)
	// Output:
	// prints
	// no paper
	// released: true <nil>
}

// The function's context ends with the hold. Here somebody else takes the lock
// away while the function works.
func ExampleLock_Do_lost() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	lock := client.NewLock("upload")
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

// An operator frees a lock whose holder is stuck.
func ExampleLock_ForceUnlock() {
	ctx := context.Background()
	elsewhere, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer elsewhere.Close()
	stuck, err := elsewhere.NewLock("import").Lock(ctx) // in another process
	if err != nil {
		log.Fatal(err)
	}

	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	lock := client.NewLock("import")
	removed, err := lock.ForceUnlock(ctx)
	fmt.Println("there was one to remove:", removed, err)
	removed, err = lock.ForceUnlock(ctx)
	fmt.Println("and again:", removed, err)

	// The holder learns of the loss soon, and here at the latest.
	err = stuck.Unlock(ctx)
	fmt.Println("the holder lost it:", errors.Is(err, rlock.ErrNotHeld))
	// Output:
	// there was one to remove: true <nil>
	// and again: false <nil>
	// the holder lost it: true
}

// A process releases a lock that another one acquired and handed over.
func ExampleLock_UnlockAs() {
	ctx := context.Background()
	elsewhere, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer elsewhere.Close()
	hold, err := elsewhere.NewLock("order:17").Lock(ctx, rlock.Lease(time.Minute))
	if err != nil {
		log.Fatal(err)
	}
	message := hold.Owner().String() // travels to the other process

	owner, err := rlock.ParseOwner(message)
	if err != nil {
		log.Fatal(err)
	}
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	lock := client.NewLock("order:17")
	fmt.Println("released:", lock.UnlockAs(ctx, owner) == nil)
	fmt.Println("nothing left:", errors.Is(lock.UnlockAs(ctx, owner), rlock.ErrNotHeld))
	// Output:
	// released: true
	// nothing left: true
}

// Name is the name before any NameMapper.
func ExampleLock_Name() {
	client, err := rlock.Open(context.Background(), os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	fmt.Println(client.NewLock("order:4711").Name())
	// Output:
	// order:4711
}

// A lock in a log line.
func ExampleLock_String() {
	client, err := rlock.Open(context.Background(), os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	fmt.Println(client.NewLock("order:4711"))
	// Output:
	// rlock.Lock("order:4711")
}
