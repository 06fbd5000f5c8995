package codec_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/rlock"
)

// What a monitoring tool sees of a lock, whoever holds it.
func Example() {
	conn := redisConn()
	if _, err := lockClient().NewLock("ledger").Lock(context.Background(), rlock.Lease(time.Hour)); err != nil {
		log.Fatal(err)
	}

	holds, err := redis.StringMap(conn.Do("HGETALL", "ledger"))
	if err != nil {
		log.Fatal(err)
	}
	for field, count := range holds {
		client, _, err := codec.ParseOwner(field)
		if err != nil {
			log.Fatal(err) // a hash, but not a lock
		}
		fmt.Println("held by a client with a version", client.Version(), "id, times", count)
	}
	ms, err := redis.Int64(conn.Do("PTTL", "ledger"))
	fmt.Println("for about", (time.Duration(ms) * time.Millisecond).Round(time.Hour), err)
	// Output:
	// held by a client with a version VERSION_4 id, times 1
	// for about 1h0m0s <nil>
}
