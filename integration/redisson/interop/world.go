package interop

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/integration/kit/redisserver"
	"github.com/rlock-go/redisson/integration/kit/subprocess"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/integration/redisson/alike"
	"github.com/rlock-go/redisson/rlock"
)

// patience bounds waits for what should take milliseconds, on a loaded machine.
const patience = testbed.Patience

// World is what all behaviours of one Redisson release on one server share.
type World struct {
	// Counting is how long processes count in one key. Default is 5 s.
	Counting time.Duration
	// Limit bounds a behaviour's calls together, so that a lock that a failure left does not block those after it for longer.
	// Default is 3 minutes.
	Limit time.Duration
	// GoWakesJava and JavaWakesGo are the measured delays.
	GoWakesJava, JavaWakesGo Spread

	version string
	server  redisserver.Server
	java    *alike.Java
	client  *rlock.Client // at defaults: a watchdog of 30 s, as Java's
	redis   redis.Conn    // not for concurrent use
	shards  bool          // messages may be sent to one shard
}

// NewWorld starts the release's JVM and a Go client for a server, or for the several servers behind a given URL. Both end
// with t.
func NewWorld(t *testing.T, version string, server redisserver.Server) *World {
	t.Helper()
	w := &World{
		Counting: briefly,
		Limit:    3 * time.Minute,
		version:  version,
		server:   server,
		java:     alike.NewJava(t, version, server.URL()),
		client:   testbed.Open(t, server.URL()),
		redis:    redisserver.Dial(t, server),
	}
	if w.java.Version != version {
		t.Fatalf("Redisson %s was loaded instead of %s", w.java.Version, version)
	}
	if w.clustered() {
		_, err := w.redis.Do("PUBSUB", "SHARDCHANNELS") // unknown before Redis 7
		w.shards = err == nil
	}
	return w
}

// CheckNothingIsLeft fails t if a lock or a subscription is left. It waits for subscriptions to end, since Java
// unsubscribes in the background.
func (w *World) CheckNothingIsLeft(t *testing.T) {
	s := w.scene(t)
	s.Becomes("no subscription", func() bool {
		return len(s.Strings("PUBSUB", "CHANNELS", "*redisson*")) == 0 &&
			(!w.shards || len(s.Strings("PUBSUB", "SHARDCHANNELS", "*redisson*")) == 0)
	})
	for _, key := range s.Strings("KEYS", "*") {
		// Unlock results expire; 3.52 deletes none of its own. Tokens stay for ever.
		if !strings.HasPrefix(key, "redisson_unlock_latch:") && !strings.HasPrefix(key, "redisson_lock_token:") {
			t.Errorf("the key %q was left behind", key)
		}
	}
}

// clustered reports whether a lock's keys and channel need to share a slot.
func (w *World) clustered() bool { return strings.HasPrefix(w.server.URL(), "redis+cluster://") }

// scene is a world as one test uses it: G and D are Go clients, J is the JVM.
type scene struct {
	*alike.Play
	*World
}

func (w *World) scene(t *testing.T) *scene {
	sides := map[string]alike.Side{"G": alike.GoOf(w.client), "D": alike.NewGo(t, w.server.URL()), "J": w.java}
	p := alike.Play{View: testbed.Asking(t, w.redis), Sides: sides, Version: w.version, Most: patience, Limit: w.Limit, Sharded: w.shards}
	return &scene{p.For(t, t.Name()), w}
}

func (s *scene) startJava(opts ...javapeer.Option) *alike.Java {
	s.Helper()
	return alike.NewJava(s.T, s.version, s.server.URL(), opts...)
}

// keeperEnv holds the URL, kind and name of a lock that a test binary is to take and keep instead of running tests.
const keeperEnv = "RLOCK_INTEROP_KEEPER"

// KeepIfAsked must be called first by the TestMain of every package that shows behaviours: some start its test binary as
// the Go process to kill. There it does not return, and the process ends with its standard input at the latest.
func KeepIfAsked() {
	asked, is := os.LookupEnv(keeperEnv)
	if !is {
		return
	}
	words := strings.SplitN(asked, " ", 3)
	client, err := rlock.Open(context.Background(), words[0], rlock.WithWatchdogTimeout(killedLease))
	if err == nil {
		_, err = javapeer.Kind(words[1]).GoLock(client, words[2]).Lock(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("ready")
	bufio.NewReader(os.Stdin).ReadString('\n')
	os.Exit(0)
}

// kept starts a Go process that takes the scene's lock, and returns a function that kills it as a crash would.
func (s *scene) kept() (kill func()) {
	s.Helper()
	binary, err := os.Executable()
	s.Must(err)
	cmd := exec.Command(binary)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s %s", keeperEnv, s.server.URL(), s.Kind, s.Object))
	_, out, err := subprocess.Start(cmd, syscall.SIGKILL)
	s.Must(err)
	kill = func() {
		cmd.Process.Kill()
		cmd.Wait()
	}
	s.Cleanup(kill)
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		s.Fatalf("the process said %q, %v", line, err)
	}
	return kill
}
