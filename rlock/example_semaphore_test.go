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

// carPool gives each example its own semaphore with n permits. Call done at the end.
func carPool(name string, n int) (semaphore *rlock.Semaphore, done func() error) {
	client, err := rlock.Open(context.Background(), os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	semaphore = client.NewSemaphore(name)
	if _, err := semaphore.TrySetPermits(context.Background(), n); err != nil {
		log.Fatal(err)
	}
	return semaphore, client.Close
}

// At most three calls go to a slow partner at once, by all services together. The permits of a
// service that dies are lost: where that matters, NewPermitSemaphore is better.
func ExampleClient_NewSemaphore() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	partner := client.NewSemaphore("partner")
	if _, err := partner.TrySetPermits(ctx, 3); err != nil { // whoever starts first
		log.Fatal(err)
	}
	err = partner.Do(ctx, 1, func(ctx context.Context) error {
		fmt.Println("calls the partner")
		return ctx.Err()
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// calls the partner
}

// A caller that needs both cars waits until both are free.
func ExampleSemaphore_Acquire() {
	ctx := context.Background()
	cars, done := carPool("cars:semaphore:acquire", 2)
	defer done()
	if err := cars.Acquire(ctx, 2); err != nil {
		log.Fatal(err)
	}
	free, err := cars.Available(ctx)
	fmt.Println(free, err)
	fmt.Println(cars.Release(ctx, 2))
	// Output:
	// 0 <nil>
	// <nil>
}

// A caller that finds no car walks.
func ExampleSemaphore_TryAcquire() {
	ctx := context.Background()
	cars, done := carPool("cars:semaphore:tryacquire", 2)
	defer done()
	if err := cars.Acquire(ctx, 2); err != nil {
		log.Fatal(err)
	}
	err := cars.TryAcquire(ctx, 1)
	fmt.Println("walks:", errors.Is(err, rlock.ErrNoPermits))
	fmt.Println(cars.Release(ctx, 2))
	// Output:
	// walks: true
	// <nil>
}

// A caller in a hurry waits for a moment.
func ExampleSemaphore_TryAcquireFor() {
	ctx := context.Background()
	cars, done := carPool("cars:semaphore:tryacquirefor", 2)
	defer done()
	if err := cars.Acquire(ctx, 1); err != nil {
		log.Fatal(err)
	}
	err := cars.TryAcquireFor(ctx, 2, time.Second)
	fmt.Println("one is too few:", errors.Is(err, rlock.ErrNoPermits))
	fmt.Println(cars.Release(ctx, 1))
	// Output:
	// one is too few: true
	// <nil>
}

// The permit is given back whatever the function does.
func ExampleSemaphore_Do() {
	ctx := context.Background()
	cars, done := carPool("cars:semaphore:do", 2)
	defer done()
	err := cars.Do(ctx, 1, func(ctx context.Context) error {
		return errors.New("a flat tyre")
	})
	fmt.Println(err)
	free, err := cars.Available(ctx)
	fmt.Println(free, err)
	// Output:
	// a flat tyre
	// 2 <nil>
}

// A process may give back permits that another one took.
func ExampleSemaphore_Release() {
	ctx := context.Background()
	cars, done := carPool("cars:semaphore:release", 2)
	defer done()
	if err := cars.Acquire(ctx, 2); err != nil {
		log.Fatal(err)
	}
	fmt.Println(cars.Release(ctx, 1))
	free, err := cars.Available(ctx)
	fmt.Println(free, err)
	fmt.Println(cars.Release(ctx, 1))
	// Output:
	// <nil>
	// 1 <nil>
	// <nil>
}

// A permit of a semaphore that is gone does not bring it back.
func ExampleSemaphore_ReleaseIfExists() {
	ctx := context.Background()
	cars, done := carPool("cars:semaphore:releaseifexists", 2)
	defer done()
	if err := cars.Acquire(ctx, 1); err != nil {
		log.Fatal(err)
	}
	if _, err := cars.Delete(ctx); err != nil {
		log.Fatal(err)
	}
	there, err := cars.ReleaseIfExists(ctx, 1)
	fmt.Println(there, err)
	// Output:
	// false <nil>
}

// Only the first call sets the number.
func ExampleSemaphore_TrySetPermits() {
	ctx := context.Background()
	cars, done := carPool("cars:semaphore:trysetpermits", 2)
	defer done()
	set, err := cars.TrySetPermits(ctx, 9)
	fmt.Println(set, err)
	free, err := cars.Available(ctx)
	fmt.Println(free, err)
	// Output:
	// false <nil>
	// 2 <nil>
}

// A car is bought, and sold again.
func ExampleSemaphore_AddPermits() {
	ctx := context.Background()
	cars, done := carPool("cars:semaphore:addpermits", 2)
	defer done()
	fmt.Println(cars.AddPermits(ctx, 1))
	free, err := cars.Available(ctx)
	fmt.Println(free, err)
	fmt.Println(cars.AddPermits(ctx, -1))
	// Output:
	// <nil>
	// 3 <nil>
	// <nil>
}

// How many cars are there?
func ExampleSemaphore_Available() {
	ctx := context.Background()
	cars, done := carPool("cars:semaphore:available", 2)
	defer done()
	free, err := cars.Available(ctx)
	fmt.Println(free, err)
	// Output:
	// 2 <nil>
}

// Every caller waits until the holiday is over.
func ExampleSemaphore_Drain() {
	ctx := context.Background()
	cars, done := carPool("cars:semaphore:drain", 2)
	defer done()
	were, err := cars.Drain(ctx)
	fmt.Println(were, err)
	fmt.Println(cars.AddPermits(ctx, 2))
	// Output:
	// 2 <nil>
	// <nil>
}

// The cars are gone.
func ExampleSemaphore_Delete() {
	ctx := context.Background()
	cars, done := carPool("cars:semaphore:delete", 2)
	defer done()
	was, err := cars.Delete(ctx)
	fmt.Println(was, err)
	free, err := cars.Available(ctx)
	fmt.Println(free, err)
	// Output:
	// true <nil>
	// 0 <nil>
}

// The name that it was made with.
func ExampleSemaphore_Name() {
	cars, done := carPool("cars:semaphore:name", 2)
	defer done()
	fmt.Println(cars.Name())
	// Output:
	// cars:semaphore:name
}

// For a log line.
func ExampleSemaphore_String() {
	cars, done := carPool("cars:semaphore:string", 2)
	defer done()
	fmt.Println(cars)
	// Output:
	// rlock.Semaphore("cars:semaphore:string")
}

// If all cars are out, a caller waits for five seconds at most.
func ExampleSemaphore_Do_wait() {
	ctx := context.Background()
	cars, done := carPool("cars:semaphore:do:wait", 0)
	defer done()
	err := cars.Do(ctx, 1, func(context.Context) error { return nil }, rlock.Wait(time.Second))
	fmt.Println(errors.Is(err, rlock.ErrNoPermits))
	// Output:
	// true
}

// The quota of a day is gone when the day is over.
func ExampleExpire() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	quota := client.NewSemaphore("quota:expire")
	set, err := quota.TrySetPermits(ctx, 1000, rlock.Expire(24*time.Hour))
	fmt.Println(set, err)
	fmt.Println(quota.TryAcquire(ctx, 1))
	// Output:
	// true <nil>
	// <nil>
}
