// Handover has one process take a lock and another work under it. The first
// one ends in between, and the lock is never free.
//
//	handover submit -order 4711    locks the order, puts a task into a queue, ends
//	handover work                  takes a task, works under its lock, releases it
package main

import (
	"context"
	"encoding/json"
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
	if len(os.Args) < 2 {
		log.Fatal("handover submit or handover work")
	}
	flags := flag.NewFlagSet(os.Args[1], flag.ExitOnError)
	order := flags.String("order", "4711", "submit: what is worked on")
	patience := flags.Duration("patience", time.Minute, "submit: how long the task may lie in the queue")
	work := flags.Duration("work", time.Second, "work: how long the task takes")
	_ = flags.Parse(os.Args[2:])

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1], *order, *patience, *work); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, role, order string, patience, work time.Duration) error {
	url := os.Getenv("REDIS_URL")
	client, err := rlock.Open(ctx, url)
	if err != nil {
		return err
	}
	defer client.Close()
	queue, err := keyserver.Dial(ctx, url, "tasks", redis.DialWriteTimeout(3*time.Second))
	if err != nil {
		return err
	}
	defer queue.Close()

	switch role {
	case "submit":
		return submit(ctx, client, queue, order, patience)
	case "work":
		reply, err := redis.ByteSlices(redis.DoContext(queue, ctx, "BLPOP", "tasks", 0))
		if err != nil {
			return err
		}
		return takeOver(ctx, client, reply[1], func(held context.Context, order string) error {
			fmt.Println("works on", order)
			select {
			case <-time.After(work):
				return nil
			case <-held.Done():
				return context.Cause(held)
			}
		})
	default:
		return fmt.Errorf("what is %q?", role)
	}
}

// begin page

// task is the message. Whoever has the owner's string may act as that owner, so
// send it where only the worker reads it.
type task struct{ Order, Owner string }

// submit locks the order and leaves the lock to whoever takes the task. If
// nobody takes it, the lock is free after patience.
func submit(ctx context.Context, client *rlock.Client, queue redis.Conn, order string, patience time.Duration) error {
	hold, err := client.NewLock("order:"+order).TryLock(ctx, rlock.Lease(patience))
	if err != nil {
		return err
	}
	message, err := json.Marshal(task{order, hold.Owner().String()})
	if err == nil {
		_, err = redis.DoContext(queue, ctx, "RPUSH", "tasks", message)
	}
	if err != nil {
		return errors.Join(err, hold.Unlock(ctx))
	}
	fmt.Println("submitted", order)
	return nil // without Unlock: Client.Close leaves the key to its lease
}

// takeOver enters as submit's owner, works, and releases both holds.
func takeOver(ctx context.Context, client *rlock.Client, message []byte, work func(context.Context, string) error) error {
	var t task
	if err := json.Unmarshal(message, &t); err != nil {
		return err
	}
	owner, err := rlock.ParseOwner(t.Owner)
	if err != nil {
		return err
	}
	lock := client.NewLock("order:" + t.Order)
	// Not Lock: if somebody else is inside, the task came too late.
	hold, err := lock.TryLock(ctx, rlock.As(owner)) // from here on, our watchdog extends it
	if err != nil {
		return err
	}
	count, err := lock.HoldCount(ctx, owner)
	switch {
	case err != nil:
	case count < 2:
		// It was free in between, and others may have been here.
		err = errors.New("the task came too late: its lock had run out")
	case count > 2:
		// An owner excludes others, not itself: count who is inside.
		err = errors.New("the task was delivered twice: another process works on it")
	default:
		held, cancel := hold.Context(ctx)
		err = work(held, t.Order)
		cancel()
	}
	err = errors.Join(err, hold.Unlock(ctx)) // our hold
	if count != 2 {
		return err
	}
	return errors.Join(err, lock.UnlockAs(ctx, owner)) // submit's hold
}

// end page
