// Command pair runs one uncontended pair of a warm client, and writes the coverage of that pair alone. Command touched
// builds it with coverage and runs it with the URL of a server and a folder.
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
	// settled is longer than a client takes to become idle after a pair.
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
	// The client may count the rivals of a name that was locked repeatedly, so this pair uses a fresh name.
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
