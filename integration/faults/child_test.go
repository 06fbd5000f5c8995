package faults

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

// childEnv marks a process that this package started to be stopped and continued: its orders.
const childEnv = "RLOCK_FAULTS_CHILD"

// orders are what a child is to do: hold locks and look at them all the time.
type orders struct {
	URL   string
	Name  string // of the locks, to which a number is added
	Holds int
	Lease time.Duration
}

// sight is what a child saw of one of its holds.
type sight struct {
	Owner     string
	LastValid time.Time // the moment before the last look at which Err was nil
	Ended     time.Time // the moment after the first look at which it was not; zero for none
	Err       string    // its kind
	Revived   bool      // Err was nil after it had not been
	Done      bool      // Done is closed
	Unlock    string    // the kind of Unlock's error
}

// unlockOrder is the line that has a child unlock. It ends then; any other line just asks for a report.
const unlockOrder = "unlock"

// child holds, says so in a line, and reports what it saw in a line of JSON for each line that it is given.
func child() int {
	fail := func(err error) int {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var o orders
	if err := json.Unmarshal([]byte(os.Getenv(childEnv)), &o); err != nil {
		return fail(err)
	}
	ctx := context.Background()
	c, err := rlock.Open(ctx, o.URL, rlock.WithCommandTimeout(timeout), rlock.WithWatchdogTimeout(o.Lease))
	if err != nil {
		return fail(err)
	}
	defer c.Close()
	holds := make([]*rlock.Hold, o.Holds)
	seen := make([]sight, o.Holds)
	for i := range holds {
		if holds[i], err = c.NewLock(fmt.Sprintf("%s-%d", o.Name, i)).Lock(ctx); err != nil {
			return fail(err)
		}
		seen[i].Owner = holds[i].Owner().String()
	}
	var mu sync.Mutex // guards seen
	stop := make(chan struct{})
	var looking sync.WaitGroup
	looking.Go(func() {
		// Without a pause: whoever is at it when the process is stopped looks first when it goes on, before any timer.
		for {
			select {
			case <-stop:
				return
			default:
			}
			mu.Lock()
			for i, h := range holds {
				seen[i].look(h)
			}
			mu.Unlock()
			runtime.Gosched()
		}
	})
	fmt.Println("held")
	in := bufio.NewScanner(os.Stdin)
	for over := false; !over && in.Scan(); {
		mu.Lock()
		if over = in.Text() == unlockOrder; over {
			for i, h := range holds {
				seen[i].Unlock = kindOf(h.Unlock(ctx))
			}
		}
		for i, h := range holds {
			select {
			case <-h.Done():
				seen[i].Done = true
			default:
			}
		}
		line, _ := json.Marshal(seen)
		mu.Unlock()
		fmt.Println(string(line))
	}
	close(stop)
	looking.Wait()
	return 0
}

func (s *sight) look(h *rlock.Hold) {
	before := time.Now()
	err := h.Err()
	switch {
	case err != nil && s.Ended.IsZero():
		s.Ended, s.Err = time.Now(), kindOf(err)
	case err == nil:
		s.LastValid = before
		s.Revived = s.Revived || !s.Ended.IsZero()
	}
}
