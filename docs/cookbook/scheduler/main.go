// Scheduler is started on several machines, with gocron; each time the job is due one of them
// runs it.
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

	"github.com/go-co-op/gocron/v2"
	"github.com/google/uuid"

	"github.com/rlock-go/redisson/rlock"
)

func main() {
	log.SetFlags(0)
	every := flag.Duration("every", time.Hour, "how often the job runs")
	least := flag.Duration("least", 50*time.Minute, "for how long no other machine runs it")
	flag.Parse()
	if err := run(*every, *least); err != nil {
		log.Fatal(err)
	}
}

func run(every, least time.Duration) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		return err
	}
	defer client.Close()
	scheduler, err := gocron.NewScheduler(gocron.WithDistributedLocker(locker{client, least}))
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
