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

// readiness gives each example its own latch. Call done at the end.
func readiness(name string, n int64) (latch *rlock.CountDownLatch, done func() error) {
	client, err := rlock.Open(context.Background(), os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	latch = client.NewCountDownLatch(name)
	if _, err := latch.TrySetCount(context.Background(), n); err != nil {
		log.Fatal(err)
	}
	return latch, client.Close
}

// The month is closed when both branches have sent their books.
func ExampleClient_NewCountDownLatch() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	books := client.NewCountDownLatch("books:2025-03")
	if _, err := books.TrySetCount(ctx, 2); err != nil {
		log.Fatal(err)
	}
	for range 2 { // each branch
		if err := books.CountDown(ctx); err != nil {
			log.Fatal(err)
		}
	}
	if err := books.Await(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println("closes the month")
	// Output:
	// closes the month
}

// The wait ends when the last one has counted down.
func ExampleCountDownLatch_Await() {
	ctx := context.Background()
	books, done := readiness("books-await", 1)
	defer done()
	go func() { _ = books.CountDown(ctx) }()
	fmt.Println(books.Await(ctx))
	// Output:
	// <nil>
}

// The wait for a branch that is late has a limit.
func ExampleCountDownLatch_AwaitFor() {
	ctx := context.Background()
	books, done := readiness("books-awaitfor", 1)
	defer done()
	err := books.AwaitFor(ctx, 100*time.Millisecond)
	fmt.Println("too late:", errors.Is(err, rlock.ErrNotOpen))
	if _, err := books.Delete(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// too late: true
}

// One of two is ready.
func ExampleCountDownLatch_CountDown() {
	ctx := context.Background()
	books, done := readiness("books-countdown", 2)
	defer done()
	fmt.Println(books.CountDown(ctx))
	count, err := books.Count(ctx)
	fmt.Println(count, err)
	if _, err := books.Delete(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// <nil>
	// 1 <nil>
}

// How many are still to come?
func ExampleCountDownLatch_Count() {
	ctx := context.Background()
	books, done := readiness("books-count", 3)
	defer done()
	count, err := books.Count(ctx)
	fmt.Println(count, err)
	if _, err := books.Delete(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 3 <nil>
}

// The count is set once, until the latch is open.
func ExampleCountDownLatch_TrySetCount() {
	ctx := context.Background()
	books, done := readiness("books-trysetcount", 1)
	defer done()
	set, err := books.TrySetCount(ctx, 5)
	fmt.Println(set, err)
	if err := books.CountDown(ctx); err != nil {
		log.Fatal(err)
	}
	set, err = books.TrySetCount(ctx, 5)
	fmt.Println(set, err)
	if _, err := books.Delete(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// false <nil>
	// true <nil>
}

// Nobody has to wait any longer.
func ExampleCountDownLatch_Delete() {
	ctx := context.Background()
	books, done := readiness("books-delete", 1)
	defer done()
	was, err := books.Delete(ctx)
	fmt.Println(was, err)
	fmt.Println(books.Await(ctx))
	// Output:
	// true <nil>
	// <nil>
}

// The name that it was made with.
func ExampleCountDownLatch_Name() {
	books, done := readiness("books-name", 1)
	defer done()
	fmt.Println(books.Name())
	// Output:
	// books-name
}

// For a log line.
func ExampleCountDownLatch_String() {
	books, done := readiness("books-string", 1)
	defer done()
	fmt.Println(books)
	// Output:
	// rlock.CountDownLatch("books-string")
}
