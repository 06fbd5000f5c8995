package pipeline

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/redisconn"
	"github.com/rlock-go/redisson/internal/redistest"
)

// machine says how long the i-th read takes.
type machine struct{ polled, slept func(i int) time.Duration }

func always(d time.Duration) func(int) time.Duration { return func(int) time.Duration { return d } }

// but is another time for each of so many reads.
func but(every int, d, other time.Duration) func(int) time.Duration {
	return func(i int) time.Duration {
		if i%every == every/2 {
			return other
		}
		return d
	}
}

func yes() bool { return true }

// read is the i-th.
func (c *polling) read(i int, m machine) (polls bool) {
	took := m.slept
	if polls = c.next(yes); polls {
		took = m.polled
	}
	c.took(polls, took(i))
	return polls
}

// share is how many of so many reads are polled for.
func (c *polling) share(reads int, m machine) (share float64) {
	for i := range reads {
		if c.read(i, m) {
			share += 1 / float64(reads)
		}
	}
	return share
}

const µs = time.Microsecond

var (
	idleCores = machine{always(20 * µs), always(45 * µs)}
	oneCore   = machine{always(120 * µs), always(20 * µs)} // for server and client
	// Others want the cores: who polls is preempted, for a time slice or some.
	busyCores = machine{but(50, 20*µs, 4*time.Millisecond), but(500, 50*µs, 4*time.Millisecond)}
)

func TestTheQuickerWayToWaitIsTaken(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what string
		on   machine
		pays bool
	}{
		{"idle cores", idleCores, true},
		{"server and client on one core", oneCore, false},
		{"busy cores", busyCores, false},
		{"busy cores where the rarest preemptions are the longest", machine{but(200, 20*µs, time.Second), always(45 * µs)}, false},
		{"polling is a little quicker", machine{always(24 * µs), always(25 * µs)}, false},
		{"both are alike", machine{always(25 * µs), always(25 * µs)}, false},
		{"the server is far", machine{always(1100 * µs), always(1000 * µs)}, false},
		{"the machine stands still at times", machine{but(20_000, 20*µs, time.Second), but(5_000, 45*µs, time.Second)}, true},
		{"it takes no time", machine{always(0), always(0)}, false},
	} {
		least, most := 0.0, 0.02
		if c.pays {
			least, most = 0.96, 0.99
		}
		if share := new(polling).share(100_000, c.on); share < least || share > most {
			t.Errorf("%s: of the replies %.3f were polled for, want %.3f to %.3f", c.what, share, least, most)
		}
	}
}

func TestTheWayToWaitFollowsTheMachine(t *testing.T) {
	t.Parallel()
	for from, a := range map[string]machine{"one core": oneCore, "busy cores": busyCores} {
		var c polling
		c.share(1_000_000, a)
		if n := until(&c, idleCores, true); n > 40_000 {
			t.Errorf("from %s to idle ones it took %d reads", from, n)
		}
		c = polling{}
		c.share(1_000_000, idleCores)
		if n := until(&c, a, false); n > 20_000 {
			t.Errorf("from idle cores to %s it took %d reads", from, n)
		}
	}
}

// until is how many reads it takes until polling is the rule, or not.
func until(c *polling, m machine, polls bool) (reads int) {
	for c.loses == polls && reads < 1_000_000 {
		c.read(reads, m)
		reads++
	}
	return reads
}

// Whatever reads take, nobody polls without an idle processor, and neither way is
// forgotten.
func TestSomeReadsSleepAlways(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		var c polling
		polled, sinceSlept, sincePolled := time.Duration(random.IntN(100))*µs, 0, 0
		for i := range 20_000 {
			if random.IntN(1000) == 0 {
				polled = time.Duration(random.IntN(100)) * µs
			}
			idle := random.IntN(100) > 0
			polls := c.next(func() bool { return idle })
			if polls && !idle {
				t.Fatalf("seed %d, read %d: polled for without an idle processor", seed, i)
			}
			sinceSlept, sincePolled = sinceSlept+1, sincePolled+1
			if polls {
				sincePolled = 0
				c.took(true, polled+time.Duration(random.IntN(50))*µs)
			} else {
				sinceSlept = 0
				c.took(false, time.Duration(random.IntN(100))*µs)
			}
			if sinceSlept >= sleepEvery {
				t.Fatalf("seed %d, read %d: none of the last %d slept", seed, i, sinceSlept)
			}
			if idle && sincePolled >= pollEvery {
				t.Fatalf("seed %d, read %d: none of the last %d polled", seed, i, sincePolled)
			}
		}
	}
}

// looks counts what is asked of a connection without waiting.
type looks struct {
	*redisconn.Conn
	n *atomic.Int64
}

func (c looks) TryFill() (some bool, err error) {
	c.n.Add(1)
	return c.Conn.TryFill()
}

func TestTheReaderPollsOnlyForWhatIsUnderWayAndWithAnIdleProcessor(t *testing.T) {
	t.Parallel()
	for _, idle := range []bool{false, true} {
		var n atomic.Int64
		dial := dialler(t, redistest.Start(t))
		p := open(t, func(ctx context.Context) (redis.Conn, error) {
			c, err := dial(ctx)
			if err != nil {
				return nil, err
			}
			return looks{c.(*redisconn.Conn), &n}, nil
		}, Options{})
		c := inUse(t, p)
		if !c.atOnce {
			t.Skip("without the system's calls the reader sleeps")
		}
		waits(c, idle)
		n.Store(0)
		done := make(chan *Request, 3)
		for range 500 {
			for range cap(done) { // so that none is a lone one
				p.Enqueue(&Request{Command: "PING", Done: CompletionFunc(func(r *Request) { done <- r })})
			}
			p.Flush()
			for range cap(done) {
				if r := end(t, done); r.Err != nil {
					t.Fatal(r.Err)
				}
			}
			if n.Load() > 0 {
				break
			}
		}
		if looked := n.Load() > 0; looked != idle {
			t.Errorf("a processor is idle: %v; the reader looks: %v", idle, looked)
		}
		n.Store(0)
		time.Sleep(20 * pollTime)
		if looked := n.Load(); looked > 0 {
			t.Errorf("nothing is under way, and the reader looked %d times", looked)
		}
	}
}

// It is what lets a neighbour's replies in at once: one of Go's processors waits for the
// network.
func TestAProcessorIsIdleIfNothingElseWantsIt(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	idle := idleProcessor()
	share := func() (share float64) {
		const looks = 1000
		for range looks {
			if idle() {
				share += 1.0 / looks
			}
			runtime.Gosched()
		}
		return share
	}
	if s := share(); s > 0 {
		t.Errorf("with one processor, one is idle in %.3f of the looks", s)
	}
	runtime.GOMAXPROCS(4)
	if s := share(); s < 0.5 {
		t.Errorf("with four processors and nothing to do, one is idle in %.3f of the looks", s)
	}
	runtime.GOMAXPROCS(2)
	var over atomic.Bool
	spins := make(chan struct{})
	go func() {
		close(spins)
		for !over.Load() {
		}
	}()
	<-spins
	if s := share(); s > 0.1 {
		t.Errorf("with two processors and a goroutine that spins, one is idle in %.3f of the looks", s)
	}
	over.Store(true)
}

// BenchmarkIdleProcessor is what a read pays that polls.
func BenchmarkIdleProcessor(b *testing.B) {
	idle := idleProcessor()
	for b.Loop() {
		idle()
	}
}
