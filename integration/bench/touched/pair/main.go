// Command pair runs one uncontended pair of a warm client, and writes the coverage of that pair alone. Command touched
// builds and runs it: with coverage, with the URL of a server and a folder.
package main

import (
	"context"
	"log"
	"os"
	"runtime/coverage"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

const (
	warming = 200
	// settled is when a client has nothing left to do: a latch that is not deleted with another batch goes alone after 5 ms.
	settled = 50 * time.Millisecond
)

func main() {
	url, dir, ctx := os.Args[1], os.Args[2], context.Background()
	client, err := rlock.Open(ctx, url)
	check(err)
	pair := func(lock *rlock.Lock) {
		hold, err := lock.Lock(ctx)
		check(err)
		check(hold.Unlock(ctx))
	}
	lock := client.NewLock("touched")
	for range warming {
		pair(lock)
	}
	// A name that was taken again and again may have its rivals counted. This pair is of one that was not.
	lock = client.NewLock("touched once")
	time.Sleep(settled)
	check(coverage.ClearCounters())
	pair(lock)
	time.Sleep(settled)
	check(coverage.WriteMetaDir(dir))
	check(coverage.WriteCountersDir(dir))
	check(client.Close())
}

func check(err error) {
	if err != nil {
		log.Fatal("pair: ", err)
	}
}
