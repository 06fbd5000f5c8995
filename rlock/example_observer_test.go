package rlock_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/rlock"
)

// observed runs fn with a client that has an observer, and closes the client.
func observed(o rlock.Observer, fn func(ctx context.Context, client *rlock.Client) error) {
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"), rlock.WithObserver(o))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	if err := fn(ctx, client); err != nil {
		log.Fatal(err)
	}
}

// nothing is work that ends at once.
func nothing(context.Context) error { return nil }

// The observer gets each acquire, with its duration.
func ExampleWithObserver() {
	waits := rlock.Observer{Acquired: func(_ context.Context, s rlock.Subject, e rlock.AcquireEvent) {
		fmt.Println(s.Name, e.Outcome, "in less than a minute:", e.Wait < time.Minute)
	}}
	ctx := context.Background()
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"), rlock.WithObserver(waits))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	if err := client.NewLock("invoices:observed").Do(ctx, nothing); err != nil {
		log.Fatal(err)
	}
	// Output: invoices:observed acquired in less than a minute: true
}

// A trace keeps its span in the context that Acquire returns.
func ExampleObserver() {
	type spanKey struct{}
	observed(rlock.Observer{
		Acquire: func(ctx context.Context, s rlock.Subject) context.Context {
			return context.WithValue(ctx, spanKey{}, "span of "+s.Name)
		},
		Acquired: func(ctx context.Context, _ rlock.Subject, e rlock.AcquireEvent) {
			fmt.Println(ctx.Value(spanKey{}), "ends:", e.Outcome)
		},
	}, func(ctx context.Context, client *rlock.Client) error {
		return client.NewLock("invoices:traced").Do(ctx, nothing)
	})
	// Output: span of invoices:traced ends: acquired
}

// The owner is the field of the hash in Redis.
func ExampleSubject_Owner() {
	var owner string
	observed(rlock.Observer{Ended: func(s rlock.Subject, _ rlock.HoldEvent) {
		owner = s.Owner() // uuid:thread
	}}, func(ctx context.Context, client *rlock.Client) error {
		return client.NewLock("invoices:owned").Do(ctx, nothing)
	})
	_, err := rlock.ParseOwner(owner)
	fmt.Println(err)
	// Output: <nil>
}

// A refused attempt is contended.
func ExampleAcquireEvent() {
	observed(rlock.Observer{Acquired: func(_ context.Context, s rlock.Subject, e rlock.AcquireEvent) {
		fmt.Println(e.Outcome, e.Attempts, e.Contended)
	}}, func(ctx context.Context, client *rlock.Client) error {
		lock := client.NewLock("invoices:tried")
		return lock.Do(ctx, func(ctx context.Context) error {
			_, err := lock.TryLock(ctx)
			if errors.Is(err, rlock.ErrLocked) {
				return nil
			}
			return err
		})
	})
	// Output:
	// acquired 1 false
	// locked 1 true
}

// A release of a hold that was not lost has no time of a loss.
func ExampleReleaseEvent() {
	observed(rlock.Observer{Released: func(_ context.Context, s rlock.Subject, e rlock.ReleaseEvent) {
		fmt.Println(s.Name, e.Err, e.LostAt.IsZero())
	}}, func(ctx context.Context, client *rlock.Client) error {
		return client.NewLock("invoices:released").Do(ctx, nothing)
	})
	// Output: invoices:released <nil> true
}

// A forced lock is lost to its holder.
func ExampleHoldEvent() {
	observed(rlock.Observer{Ended: func(s rlock.Subject, e rlock.HoldEvent) {
		fmt.Println(s.Kind, e.End, e.Reason)
	}}, func(ctx context.Context, client *rlock.Client) error {
		lock := client.NewFencedLock("invoices:forced")
		hold, err := lock.Lock(ctx)
		if err != nil {
			return err
		}
		_, err = lock.ForceUnlock(ctx)
		<-hold.Done()
		return err
	})
	// Output: fenced lost taken
}

// A lock is handed on within a client.
func ExampleWakeEvent() {
	observed(rlock.Observer{Woken: func(_ context.Context, s rlock.Subject, e rlock.WakeEvent) {
		if e.Source == "handoff" {
			fmt.Println(s.Name, "was handed on")
		}
	}}, func(ctx context.Context, client *rlock.Client) error {
		lock := client.NewLock("invoices:handed")
		hold, err := lock.Lock(ctx)
		if err != nil {
			return err
		}
		done := make(chan error)
		go func() { done <- lock.Do(ctx, nothing) }()
		for waiting := 0; waiting == 0; time.Sleep(time.Millisecond) { // until it has subscribed
			info, err := lock.Info(ctx)
			if err != nil {
				return err
			}
			waiting = info.Waiters
		}
		return errors.Join(hold.Unlock(ctx), <-done)
	})
	// Output: invoices:handed was handed on
}

// A lease is renewed every third of it.
func ExampleRenewalEvent() {
	ctx := context.Background()
	renewed := make(chan string, 100)
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"), rlock.WithWatchdogTimeout(time.Second),
		rlock.WithObserver(rlock.Observer{Renewed: func(s rlock.Subject, e rlock.RenewalEvent) { renewed <- s.Name + " " + string(e.Outcome) }}))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	err = client.NewLock("invoices:renewed").Do(ctx, func(context.Context) error {
		fmt.Println(<-renewed) // after a third of the lease
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: invoices:renewed renewed
}

// The account may no longer renew, so the lock will be lost when the lease ends.
func ExampleFailingEvent() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	failing := make(chan string, 100)
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"), rlock.WithWatchdogTimeout(time.Second),
		rlock.WithObserver(rlock.Observer{Failing: func(s rlock.Subject, e rlock.FailingEvent) {
			if e.Err != nil && e.Left < time.Second {
				failing <- "stop what needs " + s.Name
			}
		}}))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	conn, err := redis.DialURL(os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	if _, err := client.NewLock("invoices:failing").Lock(ctx); err != nil {
		log.Fatal(err)
	}
	if _, err := conn.Do("ACL", "SETUSER", "default", "-pexpire"); err != nil { // what a renewal needs
		log.Fatal(err)
	}
	fmt.Println(<-failing)
	if _, err := conn.Do("ACL", "SETUSER", "default", "+pexpire"); err != nil {
		log.Fatal(err)
	}
	// Output: stop what needs invoices:failing
}

// A pair is two commands.
func ExampleCommandEvent() {
	observed(rlock.Observer{Command: func(_ context.Context, e rlock.CommandEvent) {
		if e.Name != "PING" { // Open's
			fmt.Println(e.Name, e.Err)
		}
	}}, func(ctx context.Context, client *rlock.Client) error {
		return client.NewLock("invoices:commands").Do(ctx, nothing)
	})
	// Output:
	// EVALSHA <nil>
	// EVALSHA <nil>
}

// A lost acquire is undone.
func ExampleUndoEvent() {
	fmt.Println(rlock.UndoEvent{Outcome: "undone"}) // a lost acquire had run, and was released
	// Output: {undone <nil>}
}

// A failover moves locks to another server.
func ExampleServerEvent() {
	fmt.Println(rlock.ServerEvent{From: "10.0.0.1:6379", To: "10.0.0.2:6379"}) // locks are on another server now
	// Output: {10.0.0.1:6379 10.0.0.2:6379 0s}
}

// What is held now.
func ExampleClient_Stats() {
	observed(rlock.Observer{}, func(ctx context.Context, client *rlock.Client) error {
		return client.NewLock("invoices:counted").Do(ctx, func(context.Context) error {
			now := client.Stats()
			fmt.Println(now.Holds, "held,", now.Waiters, "wait; certain for half a minute:", now.LeastRemaining.Round(10*time.Second))
			return nil
		})
	})
	// Output: 1 held, 0 wait; certain for half a minute: 30s
}

// Counts are kept for each kind too.
func ExampleStats() {
	observed(rlock.Observer{}, func(ctx context.Context, client *rlock.Client) error {
		err := client.NewFencedLock("invoices:kinds").Do(ctx, nothing)
		stats := client.Stats()
		fmt.Println(stats.Kinds["fenced"].Acquired, "of", stats.Acquired)
		return err
	})
	// Output: 1 of 1
}

// Stats counts the outcomes of the acquires of a kind.
func ExampleKindStats() {
	observed(rlock.Observer{}, func(ctx context.Context, client *rlock.Client) error {
		err := client.NewLock("invoices:kind").Do(ctx, nothing)
		kind := client.Stats().Kinds["lock"]
		fmt.Println(kind.Acquired, "acquired,", kind.Lost, "lost")
		return err
	})
	// Output: 1 acquired, 0 lost
}

// A lock that is never released is seen by its age.
func ExampleClient_Ages() {
	observed(rlock.Observer{}, func(ctx context.Context, client *rlock.Client) error {
		return client.NewLock("invoices:old").Do(ctx, func(context.Context) error {
			for lock, age := range client.Ages() {
				fmt.Println(lock.Kind, lock.Name, "is held:", age.Hold > 0)
			}
			return nil
		})
	})
	// Output: lock invoices:old is held: true
}

// Stats has the ages of the oldest hold and wait.
func ExampleAge() {
	observed(rlock.Observer{}, func(ctx context.Context, client *rlock.Client) error {
		return client.NewLock("invoices:young").Do(ctx, func(context.Context) error {
			oldest := client.Stats().Oldest
			fmt.Println("longer than an hour:", oldest.Hold > time.Hour)
			return nil
		})
	})
	// Output: longer than an hour: false
}
