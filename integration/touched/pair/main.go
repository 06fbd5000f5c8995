// Command pair runs one uncontended pair of a warm client, and writes the coverage of that pair alone. Command touched
// builds and runs it: with coverage, with the URL of a server and a folder.
package main

import (
	"context"
	"fmt"
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
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "pair:", err)
		os.Exit(1)
	}
}

func run(url, dir string) error {
	ctx := context.Background()
	client, err := rlock.Open(ctx, url)
	if err != nil {
		return err
	}
	lock := client.NewLock("touched")
	pair := func() error {
		hold, err := lock.Lock(ctx)
		if err != nil {
			return err
		}
		return hold.Unlock(ctx)
	}
	for range warming {
		if err := pair(); err != nil {
			return err
		}
	}
	// A name that was taken again and again may have its rivals counted. This pair is of one that was not.
	lock = client.NewLock("touched once")
	time.Sleep(settled)
	if err := coverage.ClearCounters(); err != nil {
		return err
	}
	if err := pair(); err != nil {
		return err
	}
	time.Sleep(settled)
	if err := coverage.WriteMetaDir(dir); err != nil {
		return err
	}
	if err := coverage.WriteCountersDir(dir); err != nil {
		return err
	}
	return client.Close()
}
