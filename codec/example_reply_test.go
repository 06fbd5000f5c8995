package codec_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/rlock"
)

// What the lock script answers: nil for a grant, else the holder's TTL.
func ExampleDecodeAcquire() {
	for _, reply := range []any{nil, int64(29_750), int64(-1)} {
		granted, ttl, err := codec.DecodeAcquire(reply)
		fmt.Println(granted, ttl, ttl == codec.NoTTL, err)
	}
	// Output:
	// true 0s false <nil>
	// false 29.75s false <nil>
	// false -1ns true <nil>
}

// What the script of a fenced lock answers: the token of a grant, else the holder's
// TTL.
func ExampleDecodeFencedAcquire() {
	for _, reply := range []any{[]any{int64(34)}, int64(29_750), int64(-1)} {
		token, ttl, err := codec.DecodeFencedAcquire(reply)
		fmt.Println(token, ttl, ttl == codec.NoTTL, err)
	}
	// Output:
	// 34 0s false <nil>
	// 0 29.75s false <nil>
	// 0 -1ns true <nil>
}

// The token of a fenced lock's last grant.
func ExampleDecodeToken() {
	conn, vault := redisConn(), lockClient().NewFencedLock("vault")
	fmt.Println(codec.DecodeToken(must(conn.Do("GET", codec.TokenKey("vault")))))
	if _, err := vault.TryLock(context.Background(), rlock.Lease(time.Minute)); err != nil {
		log.Fatal(err)
	}
	fmt.Println(codec.DecodeToken(must(conn.Do("GET", codec.TokenKey("vault")))))
	// Output:
	// 0 <nil>
	// 1 <nil>
}

// What the unlock script answers.
func ExampleDecodeRelease() {
	for _, reply := range []any{nil, int64(0), int64(1)} {
		fmt.Println(codec.DecodeRelease(reply))
	}
	// Output:
	// NotHeld <nil>
	// Partial <nil>
	// Final <nil>
}

// Only the last release of an owner frees the lock.
func ExampleRelease() {
	release, err := codec.DecodeRelease([]byte("0")) // as a latch keeps it
	if err != nil {
		log.Fatal(err)
	}
	switch release {
	case codec.Final:
		fmt.Println("free")
	case codec.Partial:
		fmt.Println("one hold less")
	case codec.NotHeld:
		fmt.Println("was not ours")
	}
	// Output:
	// one hold less
}

// A release in a log line.
func ExampleRelease_String() {
	fmt.Println(codec.NotHeld, codec.Partial, codec.Final)
	// Output:
	// NotHeld Partial Final
}

// What the force-unlock script answers: whether there was a lock.
func ExampleDecodeForce() {
	fmt.Println(codec.DecodeForce(int64(1)))
	fmt.Println(codec.DecodeForce(int64(0)))
	// Output:
	// true <nil>
	// false <nil>
}

// What the renewal script answers for a batch: which locks are still held.
func ExampleDecodeRenew() {
	batch := []string{"invoices", "stock", "ledger"}
	held, err := codec.DecodeRenew([]any{int64(1), int64(0), int64(1)}, len(batch))
	if err != nil {
		log.Fatal(err)
	}
	for i, name := range batch {
		fmt.Println(name, held[i])
	}
	// Output:
	// invoices true
	// stock false
	// ledger true
}

// Is anybody inside?
func ExampleDecodeExists() {
	fmt.Println(codec.DecodeExists(must(redisConn().Do("EXISTS", "nobody-holds-this"))))
	// Output:
	// false <nil>
}

// How long a lock would still keep others out.
func ExampleDecodeTTL() {
	conn := redisConn()
	fmt.Println(codec.DecodeTTL(must(conn.Do("PTTL", "stock"))))

	if _, err := lockClient().NewLock("stock").TryLock(context.Background(), rlock.Lease(time.Hour)); err != nil {
		log.Fatal(err)
	}
	ttl, exists, err := codec.DecodeTTL(must(conn.Do("PTTL", "stock")))
	fmt.Println(ttl.Round(time.Hour), exists, err)
	// Output:
	// 0s false <nil>
	// 1h0m0s true <nil>
}

// Who holds a lock. The library asks by a script of its own, so that all of it is
// of one moment.
func ExampleDecodeHolder() {
	conn, client := redisConn(), lockClient()
	me := client.NewOwner()
	if _, err := client.NewLock("attic").TryLock(context.Background(), rlock.As(me), rlock.Lease(time.Hour)); err != nil {
		log.Fatal(err)
	}
	holder, held, err := codec.DecodeHolder([]any{
		must(conn.Do("PTTL", "attic")), must(conn.Do("HLEN", "attic")),
		[]byte(me.String()), must(conn.Do("HGET", "attic", me.String())),
	})
	fmt.Println(held, holder.Owner == me.String(), holder.Count, holder.TTL.Round(time.Hour), err)
	// Output:
	// true true 1 1h0m0s <nil>
}

// What is known of who holds a lock.
func ExampleHolder() {
	holder := codec.Holder{Owner: "7f3c1a52-0a49-4d0c-9d5e-2f6b1a0c8d11:42", Count: 1, TTL: codec.NoTTL}
	client, thread, err := codec.ParseOwner(holder.Owner)
	fmt.Println(client, thread, err)
	// Output:
	// 7f3c1a52-0a49-4d0c-9d5e-2f6b1a0c8d11 42 <nil>
}

// How many wait in a queue.
func ExampleDecodeLength() {
	fmt.Println(codec.DecodeLength(must(redisConn().Do("LLEN", codec.FairQueue("tree")))))
	// Output:
	// 0 <nil>
}

// How many holds an owner has.
func ExampleDecodeCount() {
	conn, client := redisConn(), lockClient()
	lock, me := client.NewLock("tree"), client.NewOwner()
	for range 2 {
		if _, err := lock.Lock(context.Background(), rlock.As(me), rlock.Lease(time.Minute)); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(codec.DecodeCount(must(conn.Do("HGET", "tree", me.String()))))
	fmt.Println(codec.DecodeCount(must(conn.Do("HGET", "tree", client.NewOwner().String()))))
	// Output:
	// 2 <nil>
	// 0 <nil>
}

// Does a message on a lock's channel say that the lock is free?
func ExampleIsUnlock() {
	ctx := context.Background()
	hold, err := lockClient().NewLock("gate").Lock(ctx)
	if err != nil {
		log.Fatal(err)
	}
	ear := redis.PubSubConn{Conn: redisConn()}
	defer ear.Close()
	if err := ear.Subscribe(codec.Channel("gate")); err != nil {
		log.Fatal(err)
	}
	for {
		switch m := ear.Receive().(type) {
		case redis.Subscription: // from here on nothing is missed
			if err := hold.Unlock(ctx); err != nil {
				log.Fatal(err)
			}
		case redis.Message:
			fmt.Println(codec.IsUnlock(m.Data), codec.IsUnlock([]byte("hello")))
			return
		case error:
			log.Fatal(m)
		}
	}
	// Output:
	// true false
}

// Somebody keeps something else under a lock's name.
func ExampleShapeError() {
	_, err := codec.DecodeCount([]byte("four"))
	if shape, ok := errors.AsType[*codec.ShapeError](err); ok {
		fmt.Println(shape.What, "is", shape.Got)
	}
	// Output:
	// hold count is bulk string "four"
}

// The reply of the script that counts permits.
func ExampleDecodePermitCount() {
	free, taken, err := codec.DecodePermitCount([]any{int64(-1), int64(3)})
	fmt.Println(free, taken, err)
	// Output:
	// -1 3 <nil>
}

// The reply of the script that tells a permit's lease.
func ExampleDecodePermitLeft() {
	left, taken, err := codec.DecodePermitLeft(int64(1500))
	fmt.Println(left, taken, err)
	// Output:
	// 1.5s true <nil>
}
