package watchdog_test

import (
	"log"
	"sync"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/watchdog"
)

var server = sync.OnceValue(func() *redistest.Server { return redistest.Start(redistest.Examples) })

// dial connects to the examples' server.
func dial() redis.Conn { return server().Dial(redistest.Examples) }

// stopwatch is a Clock. It stands still while the machine is suspended; the default Clock does
// not.
type stopwatch struct{ start time.Time }

func (s stopwatch) Now() time.Duration { return time.Since(s.start) }

var clock = stopwatch{time.Now()}

// key is a Holder: a plain key in Redis that its owner SETs.
type key struct {
	name  string
	lost  chan error
	alarm chan time.Duration
}

func newKey(name string) *key {
	return &key{name, make(chan error, 1), make(chan time.Duration, 1)}
}

func (k *key) LeaseLost(_ *watchdog.Lease, cause error) { k.lost <- cause }
func (k *key) LeaseAlarm(*watchdog.Lease)               { k.alarm <- clock.Now() }

// renewer makes a RenewFunc that gives each key of a batch a new TTL.
func renewer(ttl time.Duration) watchdog.RenewFunc {
	var turn sync.Mutex // guards conn
	conn := dial()
	return func(batch []*watchdog.Lease, answer func(int, watchdog.Answer)) {
		go func() { // a RenewFunc does not wait for the server
			turn.Lock()
			defer turn.Unlock()
			for i, lease := range batch {
				sent := clock.Now()
				done, err := redis.Bool(conn.Do("PEXPIRE", lease.Holder().(*key).name, ttl.Milliseconds()))
				switch {
				case err != nil:
					answer(i, watchdog.Answer{Result: watchdog.Failed})
				case !done:
					answer(i, watchdog.Answer{Result: watchdog.NotOwned})
				default:
					answer(i, watchdog.Answer{Result: watchdog.Renewed, Sent: sent, TTL: ttl})
				}
			}
		}()
	}
}

// guarding makes a watchdog for keys of that TTL.
func guarding(ttl time.Duration) *watchdog.Watchdog {
	return watchdog.New(renewer(ttl), watchdog.Options{TTL: ttl, Clock: clock})
}

// take sets a key and makes its lease live, renewed from now on.
func take(dog *watchdog.Watchdog, name string, ttl time.Duration) (*key, *watchdog.Lease) {
	k := newKey(name)
	lease := dog.Register(k)
	sent := clock.Now()
	if _, err := dial().Do("SET", name, "mine", "PX", ttl.Milliseconds()); err != nil {
		log.Fatal(err)
	}
	lease.Live(watchdog.Trust(sent, ttl), sent, watchdog.Never)
	return k, lease
}
