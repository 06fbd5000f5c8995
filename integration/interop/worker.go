package interop

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/gomodule/redigo/redis"
	"github.com/rlock-go/redisson/integration/internal/machineclock"
	"github.com/rlock-go/redisson/integration/javapeer"
	"github.com/rlock-go/redisson/rlock"
)

// orderEnv holds the order of a test binary that is to be a Go process of its own instead of running tests.
const orderEnv = "RLOCK_INTEROP_ORDER"

// order is what a Go process has to do. When it is ready to (warm; or holding the lock) it says so in a line; a process
// that counts then reads the instant to begin at, and answers with a line of its tally. It ends when its standard input
// does, so that none outlives the test.
type order struct {
	URL  string
	Name string
	Kind javapeer.Kind

	// For a process that counts as javapeer.Work does.
	Counter string
	Workers int
	Rounds  int // of warming
	Hold    time.Duration
	For     time.Duration

	// For one that takes the lock and keeps it.
	Keep     bool
	Watchdog time.Duration
}

// tally is what a process has counted.
type tally struct {
	PerWorker []int64
	Late      int64 // grants that came after the end: given back and not counted
}

// WorkIfOrdered has to be called first by the TestMain of every package that shows behaviours: the Go processes of some
// are its test binary. In such a process it does not return.
func WorkIfOrdered() {
	text, ordered := os.LookupEnv(orderEnv)
	if !ordered {
		return
	}
	var o order
	err := json.Unmarshal([]byte(text), &o)
	if err == nil {
		err = o.carryOut(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func (o *order) carryOut(ctx context.Context) error {
	var opts []rlock.Option
	if o.Watchdog > 0 {
		opts = append(opts, rlock.WithWatchdogTimeout(o.Watchdog))
	}
	client, err := rlock.Open(ctx, o.URL, opts...)
	if err != nil {
		return err
	}
	defer client.Close()
	in := bufio.NewReader(os.Stdin)
	if o.Keep {
		if _, err := o.Kind.GoLock(client, o.Name).Lock(ctx); err != nil {
			return err
		}
		fmt.Println("ready")
		in.ReadString('\n')
		return nil
	}

	if _, err := o.count(ctx, client, warming(o)); err != nil {
		return err
	}
	fmt.Println("ready")
	var start int64
	if _, err := fmt.Fscanln(in, &start); err != nil {
		return err
	}
	go func() {
		in.ReadString('\n')
		os.Exit(1)
	}()
	time.Sleep(time.Duration(start - machineclock.Now()))
	sum, err := o.count(ctx, client, load{
		name: o.Name, counter: o.Counter, hold: o.Hold, end: start + o.For.Nanoseconds(),
	})
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(sum)
}

// load is what each worker does: rounds until they are as many as asked for, or the end.
type load struct {
	name, counter string
	hold          time.Duration
	rounds        int64 // 0: no bound
	end           int64 // 0: none
}

// warming is on a lock of this process's own.
func warming(o *order) load {
	own := fmt.Sprintf("%s:warm:%d", o.Name, os.Getpid())
	return load{name: own, counter: own + ":counter", rounds: int64(o.Rounds)}
}

func (o *order) count(ctx context.Context, client *rlock.Client, l load) (tally, error) {
	sum := tally{PerWorker: make([]int64, o.Workers)}
	late, errs := make([]int64, o.Workers), make([]error, o.Workers)
	var wg sync.WaitGroup
	for i := range o.Workers {
		wg.Go(func() {
			sum.PerWorker[i], late[i], errs[i] = o.work(ctx, o.Kind.GoLock(client, l.name), l)
		})
	}
	wg.Wait()
	for i := range o.Workers {
		if errs[i] != nil {
			return tally{}, fmt.Errorf("worker %d: %w", i, errs[i])
		}
		sum.Late += late[i]
	}
	return sum, nil
}

// work counts with a plain GET and SET, which only the lock makes safe.
func (o *order) work(ctx context.Context, lock *rlock.Lock, l load) (done, late int64, err error) {
	conn, err := redis.DialURL(o.URL, redis.DialReadTimeout(patience), redis.DialWriteTimeout(patience))
	if err != nil {
		return 0, 0, err
	}
	defer conn.Close()
	for l.rounds == 0 || done < l.rounds {
		if l.end != 0 && machineclock.Now() >= l.end {
			break
		}
		hold, err := lock.Lock(ctx)
		if err != nil {
			return done, late, err
		}
		if l.end != 0 && machineclock.Now() >= l.end {
			late++
		} else {
			if err := increment(conn, l.counter, l.hold); err != nil {
				return done, late, err
			}
			done++
		}
		if err := hold.Unlock(ctx); err != nil {
			return done, late, err
		}
	}
	if l.rounds > 0 {
		_, err = conn.Do("DEL", l.counter)
	}
	return done, late, err
}

func increment(conn redis.Conn, counter string, between time.Duration) error {
	before, err := redis.Int64(conn.Do("GET", counter))
	if err != nil && err != redis.ErrNil {
		return err
	}
	if between > 0 {
		time.Sleep(between)
	}
	_, err = conn.Do("SET", counter, before+1)
	return err
}
