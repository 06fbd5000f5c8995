// Scheduler is started on several machines, with gocron; each time the job is due one of them
// runs it. With -address that is the leader, as long as it leads.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/google/uuid"

	"github.com/rlock-go/redisson/rlock"
)

func main() {
	log.SetFlags(0)
	every := flag.Duration("every", time.Hour, "how often the job runs")
	least := flag.Duration("least", 50*time.Minute, "for how long no other machine runs it")
	address := flag.String("address", "", "elect a leader for all jobs, and tell others by this address where it is")
	watchdog := flag.Duration("watchdog", 30*time.Second, "how soon a crashed leader is replaced")
	flag.Parse()
	if err := run(*every, *least, *watchdog, *address); err != nil {
		log.Fatal(err)
	}
}

func run(every, least, watchdog time.Duration, address string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"), rlock.WithWatchdogTimeout(watchdog))
	if err != nil {
		return err
	}
	defer client.Close()
	which := gocron.WithDistributedLocker(locker{client, least})
	if address != "" {
		e := &elector{address: address}
		which = gocron.WithDistributedElector(e)
		var campaign sync.WaitGroup
		campaign.Go(func() { e.campaign(ctx, client.NewLock("jobs")) })
		defer func() { stop(); campaign.Wait() }()
	}
	scheduler, err := gocron.NewScheduler(which)
	if err != nil {
		return err
	}
	_, err = scheduler.NewJob(gocron.DurationJob(every), gocron.NewTask(func() { fmt.Println("ran") }),
		gocron.WithName("mails"), // of the lock too
		gocron.WithEventListeners(gocron.AfterLockError(func(_ uuid.UUID, _ string, err error) {
			if !errors.Is(err, rlock.ErrLocked) {
				log.Print(err)
				return
			}
			fmt.Println("left to another")
		})))
	if err != nil {
		return err
	}
	scheduler.Start()
	<-ctx.Done()
	return scheduler.Shutdown()
}

// begin page

// locker has one of all schedulers run a job, and none again before least has passed.
type locker struct {
	client *rlock.Client
	least  time.Duration
}

// Lock is called with a job's name before it runs; the scheduler unlocks behind it.
func (l locker) Lock(ctx context.Context, job string) (gocron.Lock, error) {
	return l.client.NewLock("job:"+job).TryLock(ctx, rlock.AtLeast(l.least))
}

// end page
