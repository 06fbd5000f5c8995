// Hourly runs a job that takes a moment, once in a fleet, by each machine's crontab:
//
//	0 * * * *   hourly -least 50m
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
	least := flag.Duration("least", 50*time.Minute, "for how long no other machine runs it")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	ran, err := hourly(ctx, client.NewLock("mails"), *least, func(context.Context) error { return nil })
	fmt.Println("ran:", ran)
	if err != nil {
		log.Fatal(err)
	}
}

// begin page

// hourly runs job unless another machine has run it within least, or is at it.
func hourly(ctx context.Context, lock *rlock.Lock, least time.Duration, job func(context.Context) error) (ran bool, err error) {
	err = lock.Do(ctx, func(held context.Context) error {
		ran = true
		return job(held)
	}, rlock.Wait(0), rlock.AtLeast(least))
	if !ran && errors.Is(err, rlock.ErrLocked) {
		return false, nil
	}
	return ran, err
}

// end page
