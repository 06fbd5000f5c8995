package rlock_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/rlock-go/redisson/rlock"
)

// Many read at the same time, or one writes. A writer that has written goes on
// reading what it wrote, without another writer in between.
func ExampleClient_NewReadWriteLock() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	prices := client.NewReadWriteLock("prices")

	one, err := prices.ReadLock().Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	two, err := prices.ReadLock().Lock(ctx)
	fmt.Println("two read:", err == nil)
	_, err = prices.WriteLock().TryLock(ctx)
	fmt.Println("nobody writes meanwhile:", errors.Is(err, rlock.ErrLocked))
	if err := errors.Join(one.Unlock(ctx), two.Unlock(ctx)); err != nil {
		log.Fatal(err)
	}

	writes, err := prices.WriteLock().Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	reads, err := prices.ReadLock().Lock(ctx, rlock.As(writes.Owner()))
	fmt.Println("the writer reads:", err == nil)
	if err := writes.Unlock(ctx); err != nil {
		log.Fatal(err)
	}
	err = prices.ReadLock().Do(ctx, func(context.Context) error {
		fmt.Println("others read what it reads")
		return nil
	})
	if err := errors.Join(err, reads.Unlock(ctx)); err != nil {
		log.Fatal(err)
	}
	// Output:
	// two read: true
	// nobody writes meanwhile: true
	// the writer reads: true
	// others read what it reads
}

// Any number of owners may read at the same time.
func ExampleReadWriteLock_ReadLock() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	stock := client.NewReadWriteLock("stock")
	err = stock.ReadLock().Do(ctx, func(ctx context.Context) error {
		return stock.ReadLock().Do(ctx, func(context.Context) error {
			fmt.Println("two read")
			return nil
		})
	})
	fmt.Println(err)
	// Output:
	// two read
	// <nil>
}

// One owner writes, and nobody reads meanwhile.
func ExampleReadWriteLock_WriteLock() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	stock := client.NewReadWriteLock("stock")
	err = stock.WriteLock().Do(ctx, func(ctx context.Context) error {
		_, err := stock.ReadLock().TryLock(ctx)
		fmt.Println("nobody reads:", errors.Is(err, rlock.ErrLocked))
		return nil
	})
	fmt.Println(err)
	// Output:
	// nobody reads: true
	// <nil>
}
