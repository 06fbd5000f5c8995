package codec_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gomodule/redigo/redis"
	"github.com/google/uuid"

	"github.com/rlock-go/redisson/codec"
)

// The field under which a thread of a Redisson client holds a lock.
func ExampleOwner() {
	client := uuid.MustParse("7f3c1a52-0a49-4d0c-9d5e-2f6b1a0c8d11")
	fmt.Println(codec.Owner(client, 42))
	// Output:
	// 7f3c1a52-0a49-4d0c-9d5e-2f6b1a0c8d11:42
}

// The same into a buffer, for a writer that makes no strings.
func ExampleAppendOwner() {
	client := uuid.MustParse("7f3c1a52-0a49-4d0c-9d5e-2f6b1a0c8d11")
	fmt.Printf("%s\n", codec.AppendOwner([]byte("HGET invoices "), client, 42))
	// Output:
	// HGET invoices 7f3c1a52-0a49-4d0c-9d5e-2f6b1a0c8d11:42
}

// Who holds a lock, read from the server.
func ExampleParseOwner() {
	conn, client := redisConn(), lockClient()
	hold, err := client.NewLock("invoices").Lock(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	defer hold.Unlock(context.Background())

	fields, err := redis.Strings(conn.Do("HKEYS", "invoices"))
	if err != nil {
		log.Fatal(err)
	}
	id, thread, err := codec.ParseOwner(fields[0])
	fmt.Println(len(fields), id == client.ID(), thread > 0, err)
	// Output:
	// 1 true true <nil>
}

// The owners to whom a client leaves its locks for the rest of their minimum times differ.
func ExampleKeeper() {
	fmt.Println(codec.Keeper(1) == codec.Keeper(2))
	// Output:
	// false
}

// A hold is told from the rest of a minimum time by the second half of its owner.
func ExampleIsKeeper() {
	client := uuid.MustParse("7f3c1a52-0a49-4d0c-9d5e-2f6b1a0c8d11")
	for _, owner := range []string{codec.Owner(client, 1), codec.Owner(client, codec.Keeper(1))} {
		_, thread, err := codec.ParseOwner(owner)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(codec.IsKeeper(thread))
	}
	// Output:
	// false
	// true
}
