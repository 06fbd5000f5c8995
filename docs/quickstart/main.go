// Quickstart shows in a few seconds what a lock of this library does: two
// services contend for one, a waiter is woken, an owner re-enters, the
// watchdog extends a lease, and a holder learns that its lock is lost.
//
// It brings a small Redis of its own (miniredis, in this process). With
// REDIS_URL it uses what that names instead: a server, the master of some
// Sentinels (redis+sentinel://), or a cluster (redis+cluster://).
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, os.Getenv("REDIS_URL"))
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1)
	}
}
