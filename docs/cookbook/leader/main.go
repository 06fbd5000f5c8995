// Leader is started on several machines; one of them leads. Another takes over
// when it ends, crashes, stands still or loses its lock.
package main

import (
	"context"
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
	err = campaign(ctx, client.NewLock("leader"), *every, func(context.Context) { fmt.Println("acts") })
	if ctx.Err() == nil {
		log.Fatal(err)
	}
	fmt.Println("ends")
}

// begin page

// campaign leads whenever this process can, until ctx ends. While it leads it
// calls act again and again.
func campaign(ctx context.Context, lock *rlock.Lock, every time.Duration, act func(context.Context)) error {
	return lock.Lead(ctx, func(ctx context.Context) error {
		fmt.Println("leads")
		for pause(ctx, every) {
			// A process that stood still wakes with its timer expired. Err asks
			// the lock, so it is never late.
			if ctx.Err() != nil {
				break
			}
			act(ctx)
		}
		fmt.Println("steps down:", context.Cause(ctx))
		return nil // it stands again
	})
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
