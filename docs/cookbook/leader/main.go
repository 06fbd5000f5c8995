// Leader is started on several machines; one of them leads. Another takes over
// when it ends, crashes, stands still or loses its lock.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

func main() {
	log.SetFlags(0)
	watchdog := flag.Duration("watchdog", 30*time.Second, "how soon a crashed leader is replaced")
	every := flag.Duration("every", time.Second, "how often the leader acts")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"), rlock.WithWatchdogTimeout(*watchdog))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	fmt.Println("stands for election")
	campaign(ctx, client.NewLock("leader"), *every, func(context.Context) { fmt.Println("acts") })
	fmt.Println("ends")
}

// begin page

// campaign leads whenever this process can, until ctx ends. While it leads it
// calls act again and again.
func campaign(ctx context.Context, lock *rlock.Lock, every time.Duration, act func(context.Context)) {
	for ctx.Err() == nil {
		hold, err := lock.Lock(ctx) // waits while another leads
		if err != nil {
			if ctx.Err() == nil {
				log.Print(err)
			}
			pause(ctx, time.Second) // don't ask a server that refuses in a loop
			continue
		}
		fmt.Println("leads")
		err = lead(ctx, hold, every, act)
		fmt.Println("steps down:", err)
		// This wakes the next leader now, not when the lease ends.
		if err := hold.Unlock(ctx); err != nil && !errors.Is(err, rlock.ErrLeaseLost) {
			log.Print(err)
		}
	}
}

// lead returns when ctx ends or the lock is lost.
func lead(ctx context.Context, hold *rlock.Hold, every time.Duration, act func(context.Context)) error {
	held, cancel := hold.Context(ctx) // for what act does: it ends with the hold
	defer cancel()
	for pause(held, every) {
		// A process that stood still wakes with its timer expired and its
		// context not yet cancelled. Err reads the clock and is never late.
		if err := hold.Err(); err != nil {
			return err
		}
		act(held)
	}
	return context.Cause(held)
}

// end page

// pause tells whether d passed before ctx ended.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
