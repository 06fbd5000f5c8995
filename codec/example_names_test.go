package codec_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
)

// The channel to subscribe to for the release of a lock.
func ExampleChannel() {
	fmt.Println(codec.Channel("invoices"))
	fmt.Println(codec.Channel("{acme}:invoices")) // brings its own hash tag
	// Output:
	// redisson_lock__channel:{invoices}
	// redisson_lock__channel:{acme}:invoices
}

// The key in which a fenced lock counts its grants.
func ExampleTokenKey() {
	fmt.Println(codec.TokenKey("invoices"))
	fmt.Println(codec.TokenKey("{acme}:invoices"))
	// Output:
	// redisson_lock_token:{invoices}
	// redisson_lock_token:{acme}:invoices
}

// The owners that wait for a fair lock, in their order.
func ExampleFairQueue() {
	fmt.Println(codec.FairQueue("tickets"))
	// Output:
	// redisson_lock_queue:{tickets}
}

// The key that says until when each of them keeps its place.
func ExampleFairTimes() {
	fmt.Println(codec.FairTimes("tickets"))
	// Output:
	// redisson_lock_timeout:{tickets}
}

// The channel of one of those owners, which announces that the lock is free.
func ExampleFairChannel() {
	fmt.Println(codec.FairChannel("tickets", "550e8400-e29b-41d4-a716-446655440000:31"))
	// Output:
	// redisson_lock__channel:{tickets}:550e8400-e29b-41d4-a716-446655440000:31
}

// Where the releases of a read-write lock are announced.
func ExampleReadWriteChannel() {
	fmt.Println(codec.ReadWriteChannel("prices"))
	// Output:
	// redisson_rwlock:{prices}
}

// The key of an owner's first hold to read.
func ExampleReadHolds() {
	fmt.Println(codec.ReadHolds("prices") + ":550e8400-e29b-41d4-a716-446655440000:31:rwlock_timeout:1")
	// Output:
	// {prices}:550e8400-e29b-41d4-a716-446655440000:31:rwlock_timeout:1
}

// The key in which an unlock leaves its result, in case it is sent again.
func ExampleLatch() {
	fmt.Println(codec.Latch("invoices", "0123456789abcdef0123456789abcdef"))
	// Output:
	// redisson_unlock_latch:{invoices}:0123456789abcdef0123456789abcdef
}

// One latch for each unlock, kept while that unlock is repeated.
func ExampleFreshLatch() {
	latch := codec.FreshLatch("invoices")
	fmt.Println(strings.HasPrefix(latch, "redisson_unlock_latch:{invoices}:"))
	fmt.Println(latch != codec.FreshLatch("invoices"))
	// Output:
	// true
	// true
}

// Key, channel and latch of a lock share a slot, as the unlock script needs in a
// cluster.
func ExampleSlot() {
	fmt.Println(codec.Slot("invoices"))
	fmt.Println(codec.Slot(codec.Channel("invoices")))
	fmt.Println(codec.Slot(codec.FreshLatch("invoices")))
	// Output:
	// 13262
	// 13262
	// 13262
}

// Names that Redisson can lock in a cluster and never unlock.
func ExampleSlotSafe() {
	for _, name := range []string{"invoices", "{acme}:invoices", "a{b", "{}a"} {
		fmt.Println(name, codec.SlotSafe(name))
	}
	// Output:
	// invoices true
	// {acme}:invoices true
	// a{b false
	// {}a false
}

// Where a semaphore keeps its permits and announces their release, besides the key of its name.
func ExamplePermitTimes() {
	fmt.Println(codec.PermitTimes("seats"))
	fmt.Println(codec.PermitChannel("seats"))
	// Output:
	// {seats}:timeout
	// redisson_sc:{seats}
}

// The channel on which released permits are announced.
func ExamplePermitChannel() {
	fmt.Println(codec.PermitChannel("{acme}:seats"))
	// Output:
	// redisson_sc:{acme}:seats
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
