package rlock_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/rlock-go/redisson/rlock"
)

// A resource takes no write with a token that is lower than one it has seen. So it
// refuses a holder whose lease has ended unnoticed.
func ExampleClient_NewFencedLock() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	highest := int64(0)
	write := func(token int64) error {
		if token < highest {
			return errors.New("an older holder's write")
		}
		highest = token
		return nil
	}

	ledger := client.NewFencedLock("ledger")
	paused, err := ledger.Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := ledger.ForceUnlock(ctx); err != nil { // or its lease ends
		log.Fatal(err)
	}
	next, err := ledger.Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("the next holder:", write(next.Token()))
	fmt.Println("the first one:", write(paused.Token()))
	if err := next.Unlock(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// the next holder: <nil>
	// the first one: an older holder's write
}

// After a re-entry, the outer hold goes on with the newer token.
func ExampleHold_Token() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	lock := client.NewFencedLock("fuse")
	outer, err := lock.Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(outer.Token())

	inner, err := lock.Lock(ctx, rlock.As(outer.Owner()))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(inner.Token(), outer.Token())
	if err := errors.Join(inner.Unlock(ctx), outer.Unlock(ctx)); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 1
	// 2 2
}

// The last token counts the lock's grants, including those that were given back at once.
func ExampleLock_LastToken() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	lock := client.NewFencedLock("valve")
	for range 3 {
		if err := lock.Do(ctx, func(context.Context) error { return nil }); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(lock.LastToken(ctx))
	// Output:
	// 3 <nil>
}

// The function has the hold, and so its fencing token.
func ExampleLock_DoHold() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	err = client.NewFencedLock("accounts").DoHold(ctx, func(ctx context.Context, hold *rlock.Hold) error {
		fmt.Println("write with token", hold.Token())
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// write with token 1
}
