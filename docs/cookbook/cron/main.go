// Cron runs a job once for each period, on whichever machine of a fleet comes
// first. Every machine starts it at the same time, by its own crontab:
//
//	30 2 * * *   cron -job report -every 24h
//
// The job of this example adds the period to the list {<job>}:runs and takes its
// time over it.
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

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/docs/cookbook/internal/keyserver"
	"github.com/rlock-go/redisson/rlock"
)

func main() {
	log.SetFlags(0)
	job := flag.String("job", "report", "what runs once")
	every := flag.Duration("every", time.Minute, "the period")
	at := flag.String("at", "", "what this machine's clock says, as RFC 3339; empty for now")
	work := flag.Duration("work", 100*time.Millisecond, "how long the job takes")
	watchdog := flag.Duration("watchdog", 30*time.Second, "how soon a crashed machine's lock is free")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	now := time.Now()
	if *at != "" {
		var err error
		if now, err = time.Parse(time.RFC3339, *at); err != nil {
			log.Fatal(err)
		}
	}
	if err := run(ctx, *job, now.UTC().Truncate(*every), *work, *watchdog); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, job string, tick time.Time, work, watchdog time.Duration) error {
	url := os.Getenv("REDIS_URL")
	client, err := rlock.Open(ctx, url, rlock.WithWatchdogTimeout(watchdog))
	if err != nil {
		return err
	}
	defer client.Close()
	lock := client.NewLock(job)
	store, err := keyserver.Dial(ctx, url, lock.Name(), redis.DialReadTimeout(3*time.Second), redis.DialWriteTimeout(3*time.Second))
	if err != nil {
		return err
	}
	defer store.Close()

	ran, err := once(ctx, lock, store, tick, func(held context.Context) error {
		if _, err := redis.DoContext(store, held, "RPUSH", "{"+job+"}:runs", tick.Unix()); err != nil {
			return err
		}
		fmt.Println("runs", tick.Format(time.RFC3339))
		select {
		case <-time.After(work):
			return nil
		case <-held.Done():
			return context.Cause(held)
		}
	})
	switch {
	case err != nil:
		return err
	case ran:
		fmt.Println("done", tick.Format(time.RFC3339))
	default:
		fmt.Println("skipped", tick.Format(time.RFC3339))
	}
	return nil
}

// begin page

// advance notes a period as done. It never goes back: a machine that stood
// still and wakes late must not reopen the periods that others did meanwhile.
var advance = redis.NewScript(1, `
	if tonumber(redis.call('GET', KEYS[1]) or '0') < tonumber(ARGV[1]) then
		redis.call('SET', KEYS[1], ARGV[1])
	end`)

// skew is how far the machines' clocks may be ahead of the server's.
const skew = 30 * time.Second

// once runs job for the period that begins at tick, unless that one or a later
// one is done already, and reports whether it ran.
func once(ctx context.Context, lock *rlock.Lock, store redis.Conn, tick time.Time,
	job func(context.Context) error,
) (ran bool, err error) {
	lastDone := "{" + lock.Name() + "}:last-done" // in a cluster, on the lock's server
	err = lock.Do(ctx, func(held context.Context) error {
		// A period from the future would keep the fleet idle until it comes.
		clock, err := redis.Int64s(redis.DoContext(store, held, "TIME"))
		if err != nil {
			return err
		}
		if ahead := tick.Sub(time.Unix(clock[0], 0)); ahead > skew {
			return fmt.Errorf("this machine's clock is ahead of the server's by %v or more", ahead)
		}

		last, err := redis.Int64(redis.DoContext(store, held, "GET", lastDone))
		if err != nil && !errors.Is(err, redis.ErrNil) {
			return err
		}
		if last >= tick.Unix() {
			return nil // another machine has already run this period
		}
		if err := job(held); err != nil {
			return err // not noted, so the next machine in the queue tries
		}
		ran = true
		// Note it even if the lock was lost or the process has to end: the job has run.
		_, err = advance.DoContext(context.WithoutCancel(ctx), store, lastDone, tick.Unix())
		return err
	})
	return ran, err
}

// end page
