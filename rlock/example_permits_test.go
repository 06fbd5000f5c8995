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

// permits gives each example its own semaphore with n permits. Call done at the end.
func permits(name string, n int) (semaphore *rlock.PermitSemaphore, done func() error) {
	client, err := rlock.Open(context.Background(), os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	semaphore = client.NewPermitSemaphore(name)
	if err := semaphore.SetPermits(context.Background(), n); err != nil {
		log.Fatal(err)
	}
	return semaphore, client.Close
}

// take takes n of them. An error ends the example.
func take(seats *rlock.PermitSemaphore, n int, opts ...rlock.PermitOption) *rlock.Permits {
	held, err := seats.Acquire(context.Background(), n, opts...)
	if err != nil {
		log.Fatal(err)
	}
	return held
}

// At most two reports are made at once, by all services together. If a service dies, its permits
// come back by themselves.
func ExampleClient_NewPermitSemaphore() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	reports := client.NewPermitSemaphore("reports")
	if _, err := reports.TrySetPermits(ctx, 2); err != nil { // whoever starts first
		log.Fatal(err)
	}
	err = reports.Do(ctx, 1, func(ctx context.Context) error {
		fmt.Println("makes a report")
		return ctx.Err()
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// makes a report
}

// A job that needs two of the seats waits until both are free.
func ExamplePermitSemaphore_Acquire() {
	ctx := context.Background()
	seats, done := permits("seats:permitsemaphore:acquire", 2)
	defer done()
	held, err := seats.Acquire(ctx, 2)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("holds", len(held.IDs()))
	fmt.Println(held.Release(ctx))
	// Output:
	// holds 2
	// <nil>
}

// A caller that finds no seat goes elsewhere.
func ExamplePermitSemaphore_TryAcquire() {
	ctx := context.Background()
	seats, done := permits("seats:permitsemaphore:tryacquire", 2)
	defer done()
	held := take(seats, 2)
	_, err := seats.TryAcquire(ctx, 1)
	fmt.Println("no seat:", errors.Is(err, rlock.ErrNoPermits))
	fmt.Println(held.Release(ctx))
	// Output:
	// no seat: true
	// <nil>
}

// A caller in a hurry waits for a moment.
func ExamplePermitSemaphore_TryAcquireFor() {
	ctx := context.Background()
	seats, done := permits("seats:permitsemaphore:tryacquirefor", 2)
	defer done()
	held := take(seats, 1)
	_, err := seats.TryAcquireFor(ctx, 2, time.Second)
	fmt.Println("one seat is too few:", errors.Is(err, rlock.ErrNoPermits))
	fmt.Println(held.Release(ctx))
	// Output:
	// one seat is too few: true
	// <nil>
}

// The permit is given back whatever the function does.
func ExamplePermitSemaphore_Do() {
	ctx := context.Background()
	seats, done := permits("seats:permitsemaphore:do", 2)
	defer done()
	err := seats.Do(ctx, 1, func(ctx context.Context) error {
		return errors.New("no paper")
	})
	fmt.Println(err)
	free, err := seats.Available(ctx)
	fmt.Println(free, err)
	// Output:
	// no paper
	// 2 <nil>
}

// One process takes a seat, and another one that knows the id gives it back.
func ExamplePermitSemaphore_ReleaseIDs() {
	ctx := context.Background()
	seats, done := permits("seats:permitsemaphore:releaseids", 2)
	defer done()
	held := take(seats, 1)
	other, done2 := permits(seats.Name(), 2)
	defer done2()
	fmt.Println(other.ReleaseIDs(ctx, held.IDs()...))
	err := other.ReleaseIDs(ctx, held.IDs()...)
	fmt.Println("twice:", errors.Is(err, rlock.ErrNotHeld))
	// Output:
	// <nil>
	// twice: true
}

// A process gives more time to a seat that another one has.
func ExamplePermitSemaphore_SetLease() {
	ctx := context.Background()
	seats, done := permits("seats:permitsemaphore:setlease", 2)
	defer done()
	held := take(seats, 1, rlock.Lease(time.Minute))
	other, done2 := permits(seats.Name(), 2)
	defer done2()
	if err := other.SetLease(ctx, held.IDs()[0], time.Hour); err != nil {
		log.Fatal(err)
	}
	left, err := other.LeaseOf(ctx, held.IDs()[0])
	fmt.Println(left > 50*time.Minute, err)
	// Output:
	// true <nil>
}

// How long does a seat stay taken if nobody renews it?
func ExamplePermitSemaphore_LeaseOf() {
	ctx := context.Background()
	seats, done := permits("seats:permitsemaphore:leaseof", 2)
	defer done()
	held := take(seats, 1, rlock.Lease(time.Minute))
	left, err := seats.LeaseOf(ctx, held.IDs()[0])
	fmt.Println(left > 0, left <= time.Minute, err)
	// Output:
	// true true <nil>
}

// Every process sets the number of seats, and the first one does.
func ExamplePermitSemaphore_TrySetPermits() {
	ctx := context.Background()
	seats, done := permits("seats:permitsemaphore:trysetpermits", 2)
	defer done()
	first, err := seats.TrySetPermits(ctx, 5)
	fmt.Println(first, err)
	total, err := seats.Total(ctx)
	fmt.Println(total, err)
	// Output:
	// false <nil>
	// 2 <nil>
}

// There is one seat from now on. The two that are taken stay so until they are given back.
func ExamplePermitSemaphore_SetPermits() {
	ctx := context.Background()
	seats, done := permits("seats:permitsemaphore:setpermits", 2)
	defer done()
	held := take(seats, 2)
	fmt.Println(seats.SetPermits(ctx, 1))
	free, err := seats.Available(ctx)
	fmt.Println(free, err)
	fmt.Println(held.Release(ctx))
	// Output:
	// <nil>
	// -1 <nil>
	// <nil>
}

// Three seats more, and then one fewer.
func ExamplePermitSemaphore_AddPermits() {
	ctx := context.Background()
	seats, done := permits("seats:permitsemaphore:addpermits", 2)
	defer done()
	fmt.Println(seats.AddPermits(ctx, 3), seats.AddPermits(ctx, -1))
	total, err := seats.Total(ctx)
	fmt.Println(total, err)
	// Output:
	// <nil> <nil>
	// 4 <nil>
}

// How many seats are free?
func ExamplePermitSemaphore_Available() {
	ctx := context.Background()
	seats, done := permits("seats:permitsemaphore:available", 2)
	defer done()
	defer take(seats, 1).Release(ctx)
	free, err := seats.Available(ctx)
	fmt.Println(free, err)
	// Output:
	// 1 <nil>
}

// How many seats are taken, by anybody?
func ExamplePermitSemaphore_Acquired() {
	ctx := context.Background()
	seats, done := permits("seats:permitsemaphore:acquired", 2)
	defer done()
	defer take(seats, 1).Release(ctx)
	taken, err := seats.Acquired(ctx)
	fmt.Println(taken, err)
	// Output:
	// 1 <nil>
}

// How many seats are there, free or taken?
func ExamplePermitSemaphore_Total() {
	ctx := context.Background()
	seats, done := permits("seats:permitsemaphore:total", 2)
	defer done()
	defer take(seats, 1).Release(ctx)
	total, err := seats.Total(ctx)
	fmt.Println(total, err)
	// Output:
	// 2 <nil>
}

// The room is closed, whoever has a seat.
func ExamplePermitSemaphore_Delete() {
	ctx := context.Background()
	seats, done := permits("seats:permitsemaphore:delete", 2)
	defer done()
	held := take(seats, 1)
	was, err := seats.Delete(ctx)
	fmt.Println(was, err)
	fmt.Println("lost:", errors.Is(held.Err(), rlock.ErrLeaseLost))
	// Output:
	// true <nil>
	// lost: true
}

// The name is the one in Redis, unless there is a NameMapper.
func ExamplePermitSemaphore_Name() {
	seats, done := permits("seats:permitsemaphore:name", 2)
	defer done()
	fmt.Println(seats.Name())
	// Output:
	// seats:permitsemaphore:name
}

// A semaphore in a log line.
func ExamplePermitSemaphore_String() {
	seats, done := permits("seats:permitsemaphore:string", 2)
	defer done()
	fmt.Println(seats)
	// Output:
	// rlock.PermitSemaphore("seats:permitsemaphore:string")
}

// The permits come back together, once.
func ExamplePermits_Release() {
	ctx := context.Background()
	seats, done := permits("seats:permits:release", 2)
	defer done()
	held := take(seats, 2)
	fmt.Println(held.Release(ctx))
	fmt.Println("twice:", errors.Is(held.Release(ctx), rlock.ErrReleased))
	// Output:
	// <nil>
	// twice: true
}

// A lease of a minute becomes one of an hour.
func ExamplePermits_Extend() {
	ctx := context.Background()
	seats, done := permits("seats:permits:extend", 2)
	defer done()
	held := take(seats, 1, rlock.Lease(time.Minute))
	fmt.Println(held.Extend(ctx, time.Hour))
	fmt.Println(time.Until(held.ValidUntil()) > 50*time.Minute)
	// Output:
	// <nil>
	// true
}

// Each permit has an id, by which another process can give it up.
func ExamplePermits_IDs() {
	ctx := context.Background()
	seats, done := permits("seats:permits:ids", 2)
	defer done()
	held := take(seats, 2)
	for _, id := range held.IDs() {
		fmt.Println(len(id))
	}
	fmt.Println(held.Release(ctx))
	// Output:
	// 32
	// 32
	// <nil>
}

// Ask before each step whether the permits are still held.
func ExamplePermits_Err() {
	ctx := context.Background()
	seats, done := permits("seats:permits:err", 2)
	defer done()
	held := take(seats, 1)
	fmt.Println("held:", held.Err() == nil)
	fmt.Println(held.Release(ctx))
	fmt.Println("released:", errors.Is(held.Err(), rlock.ErrReleased))
	// Output:
	// held: true
	// <nil>
	// released: true
}

// Work stops when the permits are gone.
func ExamplePermits_Done() {
	seats, done := permits("seats:permits:done", 2)
	defer done()
	held := take(seats, 1, rlock.Lease(50*time.Millisecond))
	<-held.Done()
	fmt.Println("lost:", errors.Is(held.Err(), rlock.ErrLeaseLost))
	// Output:
	// lost: true
}

// A context that ends with the permits says why.
func ExamplePermits_Context() {
	ctx := context.Background()
	seats, done := permits("seats:permits:context", 2)
	defer done()
	held := take(seats, 1)
	work, cancel := held.Context(ctx)
	defer cancel()
	fmt.Println(held.Release(ctx))
	<-work.Done()
	fmt.Println("released:", errors.Is(context.Cause(work), rlock.ErrReleased))
	// Output:
	// <nil>
	// released: true
}

// The watchdog keeps moving the end of the permits.
func ExamplePermits_ValidUntil() {
	ctx := context.Background()
	seats, done := permits("seats:permits:validuntil", 2)
	defer done()
	held := take(seats, 1)
	fmt.Println(held.ValidUntil().After(time.Now()))
	fmt.Println(held.Release(ctx))
	// Output:
	// true
	// <nil>
}

// The semaphore that they are of.
func ExamplePermits_Name() {
	ctx := context.Background()
	seats, done := permits("seats:permits:name", 2)
	defer done()
	held := take(seats, 1)
	fmt.Println(held.Name())
	fmt.Println(held.Release(ctx))
	// Output:
	// seats:permits:name
	// <nil>
}

// Permits in a log line.
func ExamplePermits_String() {
	ctx := context.Background()
	seats, done := permits("seats:permits:string", 2)
	defer done()
	held := take(seats, 2)
	fmt.Println(held)
	fmt.Println(held.Release(ctx))
	// Output:
	// rlock.Permits("seats:permits:string", 2)
	// <nil>
}
