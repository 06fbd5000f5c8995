package interop

import (
	"context"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
	"github.com/rlock-go/redisson/integration/internal/commandstats"
	"github.com/rlock-go/redisson/integration/javapeer"
	"github.com/rlock-go/redisson/integration/redisserver"
	"github.com/rlock-go/redisson/rlock"
)

// patience bounds waits for what should take milliseconds, on a loaded machine.
const patience = 20 * time.Second

// World is what all behaviours of one Redisson release on one server share.
type World struct {
	// Counting is how long processes count in one key. Default is 5 s.
	Counting time.Duration
	// Limit is how long a behaviour's calls may take together, lest a failure that leaves a lock behind block what comes
	// after. Default is 3 minutes.
	Limit time.Duration
	// GoWakesJava and JavaWakesGo are the delays that were measured.
	GoWakesJava, JavaWakesGo Spread

	version string
	server  redisserver.Server
	java    *javapeer.Peer
	client  *rlock.Client // at defaults: a watchdog of 30 s, as Java's
	redis   redis.Conn    // not for concurrent use
	shards  bool          // messages may be sent to one shard
}

// NewWorld starts the release's JVM and a Go client for a server, or for several by the URL of one that was given. They end
// with t.
func NewWorld(t *testing.T, version string, server redisserver.Server) *World {
	t.Helper()
	w := &World{
		Counting: briefly,
		Limit:    3 * time.Minute,
		version:  version,
		server:   server,
		java:     javapeer.Start(t, version, server.URL()),
		redis:    redisserver.Dial(t, server),
	}
	if w.java.Version != version {
		t.Fatalf("Redisson %s was loaded instead of %s", w.java.Version, version)
	}
	w.client = w.open(t)
	if w.clustered() {
		_, err := w.redis.Do("PUBSUB", "SHARDCHANNELS") // unknown before Redis 7
		w.shards = err == nil
	}
	return w
}

// open makes another client, which is closed with t.
func (w *World) open(t *testing.T, opts ...rlock.Option) *rlock.Client {
	t.Helper()
	c, err := rlock.Open(t.Context(), w.server.URL(), opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// CheckNothingIsLeft fails t unless nothing is: no lock, and nobody who listens for one. Java unsubscribes behind its
// callers' backs.
func (w *World) CheckNothingIsLeft(t *testing.T) {
	s := w.scene(t)
	s.eventually("no subscription", func() bool {
		return len(s.strings("PUBSUB", "CHANNELS", "*redisson*")) == 0 &&
			(!w.shards || len(s.strings("PUBSUB", "SHARDCHANNELS", "*redisson*")) == 0)
	})
	for _, key := range s.strings("KEYS", "*") {
		// Latches end by themselves; 3.52 leaves each of its own to that. Tokens stay for ever.
		if !strings.HasPrefix(key, "redisson_unlock_latch:") && !strings.HasPrefix(key, "redisson_lock_token:") {
			t.Errorf("the key %q was left behind", key)
		}
	}
}

// clustered tells whether a lock's keys and channel need to share a slot.
func (w *World) clustered() bool { return strings.HasPrefix(w.server.URL(), "redis+cluster://") }

// scene is a world as one test uses it.
type scene struct {
	*testing.T
	*World
	ctx  context.Context
	name string
	kind javapeer.Kind
	lock *rlock.Lock
}

// Context ends with the test or at the world's limit.
func (s *scene) Context() context.Context { return s.ctx }

func (w *World) scene(t *testing.T) *scene {
	ctx, cancel := context.WithTimeout(t.Context(), w.Limit)
	t.Cleanup(cancel)
	return &scene{T: t, World: w, ctx: ctx, name: t.Name(), lock: w.client.NewLock(t.Name())}
}

// use has the scene be about a lock of another kind.
func (s *scene) use(k javapeer.Kind) { s.kind, s.lock = k, k.GoLock(s.client, s.name) }

// thread is one of Java's that takes locks of the scene's kind.
func (s *scene) thread(name string) *javapeer.Thread { return s.java.Thread(name).Of(s.kind) }

// lockOf is the scene's lock as another client has it.
func (s *scene) lockOf(c *rlock.Client) *rlock.Lock { return s.kind.GoLock(c, s.name) }

// ok takes the result of a Java command that has to succeed.
func (s *scene) ok(r javapeer.Reply, err error) javapeer.Reply {
	s.Helper()
	s.must(err)
	return r
}

// got takes the result of an acquire that has to succeed.
func (s *scene) got(h *rlock.Hold, err error) *rlock.Hold {
	s.Helper()
	s.must(err)
	return h
}

func (s *scene) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *scene) strings(command string, args ...any) []string {
	s.Helper()
	values, err := redis.Strings(s.redis.Do(command, args...))
	s.must(err)
	return values
}

// serverHas fails unless the lock's hash is exactly this: owners and their counts. None: no key. Of a write lock it is what
// is written.
func (s *scene) serverHas(want map[string]string) {
	s.Helper()
	fields, err := redis.StringMap(s.redis.Do("HGETALL", s.name))
	s.must(err)
	if s.kind == javapeer.Write && fields["mode"] == "write" {
		written := map[string]string{}
		for field, n := range fields {
			if owner, writes := strings.CutSuffix(field, ":write"); writes {
				written[owner] = n
			} else if field != "mode" {
				written["reads: "+field] = n
			}
		}
		fields = written
	}
	if !maps.Equal(fields, want) {
		s.Fatalf("the server has %v, want %v", fields, want)
	}
}

// ttl is what is left of the lock's key.
func (s *scene) ttl() time.Duration {
	s.Helper()
	ms, err := redis.Int64(s.redis.Do("PTTL", s.name))
	s.must(err)
	return time.Duration(ms) * time.Millisecond
}

// ttlIn fails unless the key ends within (over, most].
func (s *scene) ttlIn(over, most time.Duration) {
	s.Helper()
	if ttl := s.ttl(); ttl <= over || ttl > most {
		s.Fatalf("a TTL of %v, want more than %v and at most %v", ttl, over, most)
	}
}

// subscribers is how many connections listen for the lock's release. Where there are two kinds of messages Go listens for
// both and Java for one, so one kind has all of them.
func (s *scene) subscribers() (most int) {
	s.Helper()
	if s.kind == javapeer.Fair { // each waiter has a channel
		return len(s.strings("PUBSUB", "CHANNELS", s.kind.Channel(s.name)+":*"))
	}
	kinds := []string{"NUMSUB"}
	if s.shards {
		kinds = append(kinds, "SHARDNUMSUB")
	}
	for _, kind := range kinds {
		counts, err := redis.IntMap(s.redis.Do("PUBSUB", kind, s.kind.Channel(s.name)))
		s.must(err)
		most = max(most, counts[s.kind.Channel(s.name)])
	}
	return most
}

// evalshas is how many EVALSHA the server has executed.
func (s *scene) evalshas() int {
	s.Helper()
	calls, err := commandstats.Read(s.redis)
	s.must(err)
	return int(calls["evalsha"])
}

// eventually polls until the state is there.
func (s *scene) eventually(what string, state func() bool) {
	s.Helper()
	for deadline := time.Now().Add(patience); !state(); {
		if time.Now().After(deadline) {
			s.Fatalf("%v passed without: %s; %d listen", patience, what, s.subscribers())
		}
		time.Sleep(2 * time.Millisecond)
	}
}
