package rlock_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/rlock"
)

// One client per process is enough for any number of locks.
func ExampleOpen() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL")) // redis://user:password@host:6379/0
	if err != nil {
		log.Fatal(err) // Open asks the server once: the password may be wrong, or the server down
	}
	defer client.Close()

	locked, err := client.NewLock("orders").IsLocked(ctx)
	fmt.Println(locked, err)
	// Output:
	// false <nil>
}

// Open refuses a bad URL without showing its password.
func ExampleOpen_refused() {
	_, err := rlock.Open(context.Background(), "http://:secret@localhost:6379")
	fmt.Println(errors.Is(err, rlock.ErrInvalidOption), strings.Contains(err.Error(), "secret"))
	// Output:
	// true false
}

// An application that has a pool lends two of its connections.
func ExampleNew() {
	pool := &redis.Pool{
		DialContext: func(ctx context.Context) (redis.Conn, error) {
			return redis.DialURLContext(ctx, os.Getenv("REDIS_URL"),
				redis.DialConnectTimeout(3*time.Second),
				redis.DialReadTimeout(3*time.Second),
				redis.DialWriteTimeout(3*time.Second))
		},
		MaxIdle: 4,
	}
	defer pool.Close()

	client, err := rlock.New(pool)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close() // gives back the pool's connections

	err = client.NewLock("pooled").Do(context.Background(), func(context.Context) error {
		fmt.Println("inside")
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// inside
}

// tenantPools picks a pool by the context's tenant.
type tenantPools map[string]*redis.Pool

func (p tenantPools) GetContext(ctx context.Context) (redis.Conn, error) {
	return p["default"].GetContext(ctx)
}

// Anything that lends redigo connections can be a pool.
func ExamplePool() {
	pool := &redis.Pool{DialContext: func(ctx context.Context) (redis.Conn, error) {
		return redis.DialURLContext(ctx, os.Getenv("REDIS_URL"),
			redis.DialReadTimeout(3*time.Second), redis.DialWriteTimeout(3*time.Second))
	}}
	defer pool.Close()

	client, err := rlock.New(tenantPools{"default": pool})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	_, err = client.NewLock("tenant").TryLock(context.Background(), rlock.Lease(time.Minute))
	fmt.Println(err)
	// Output:
	// <nil>
}

// A handle costs nothing: make it where you use it, or keep it.
func ExampleClient_NewLock() {
	client, err := rlock.Open(context.Background(), os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	lock := client.NewLock("order:4711") // Java: redisson.getLock("order:4711")
	fmt.Println(lock.Name())
	// Output:
	// order:4711
}

// The client's id is the first half of its owners, here and in Redis.
func ExampleClient_ID() {
	client, err := rlock.Open(context.Background(), os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	owner := client.NewOwner()
	fmt.Println(strings.HasPrefix(owner.String(), client.ID().String()+":"))
	// Output:
	// true
}

// An owner that is made beforehand lets several functions act as one.
func ExampleClient_NewOwner() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	me := client.NewOwner()

	for _, name := range []string{"debit:7", "credit:9"} {
		hold, err := client.NewLock(name).Lock(ctx, rlock.As(me))
		if err != nil {
			log.Fatal(err)
		}
		defer hold.Unlock(ctx)
		fmt.Println(name, hold.Owner() == me)
	}
	// Output:
	// debit:7 true
	// credit:9 true
}

// Shutdown waits for the holders of locks, and lets no new ones in.
func ExampleClient_Shutdown() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	hold, err := client.NewLock("migration").Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	go func() {
		// ... the rest of the work ...
		hold.Unlock(ctx)
	}()

	grace, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	fmt.Println("in good order:", client.Shutdown(grace) == nil)
	fmt.Println("the holder released:", errors.Is(hold.Err(), rlock.ErrReleased))
	_, err = client.NewLock("another").TryLock(ctx)
	fmt.Println("no more locks:", errors.Is(err, rlock.ErrClosed))
	// Output:
	// in good order: true
	// the holder released: true
	// no more locks: true
}

// Close does not wait for holders. Their keys are left to expire.
func ExampleClient_Close() {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	hold, err := client.NewLock("abandoned").Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	client.Close()

	fmt.Println("the hold is over:", errors.Is(hold.Err(), rlock.ErrClosed))
	elsewhere, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer elsewhere.Close()
	locked, err := elsewhere.NewLock("abandoned").IsLocked(ctx)
	fmt.Println("others are kept out until its lease ends:", locked, err)
	// Output:
	// the hold is over: true
	// others are kept out until its lease ends: true <nil>
}

// In a log line a client is its id.
func ExampleClient_String() {
	client, err := rlock.Open(context.Background(), os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	fmt.Println(fmt.Sprint(client) == "rlock.Client("+client.ID().String()+")")
	// Output:
	// true
}
