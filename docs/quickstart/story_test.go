package main

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
)

func TestStoryOnEmbeddedServer(t *testing.T) {
	t.Parallel()
	story := tellStory(t, "")
	checkFacts(t, story)
	if !strings.HasPrefix(story, "Redis: miniredis") {
		t.Errorf("it does not say what it runs on:\n%s", story)
	}
	compareWithPage(t, story)
}

func TestStoryOnRealServer(t *testing.T) {
	t.Parallel()
	if !haveServer(t) {
		return
	}
	server := redistest.Start(t)
	onReal(t, server.URL())
	left, err := redis.Strings(server.Dial(t).Do("KEYS", "*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

func TestStoryOnCluster(t *testing.T) {
	t.Parallel()
	if !haveServer(t) {
		return
	}
	cluster := topologytest.StartReplicated(t, 1, 1, 1)
	onReal(t, cluster.ClusterURL())
	ran := 0
	for i := range 3 {
		ran += topologytest.Calls(t, cluster.Conn(i), "evalsha")
		nothingStays(t, cluster.Conn(i))
	}
	if ran == 0 {
		t.Error("the masters ran no script")
	}
}

func TestStoryBehindSentinels(t *testing.T) {
	t.Parallel()
	if !haveServer(t) {
		return
	}
	set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
	onReal(t, set.URL())
	master := set.Master().Dial(t)
	if topologytest.Calls(t, master, "evalsha") == 0 {
		t.Error("the master ran no script")
	}
	nothingStays(t, master)
}

// nothingStays checks that a server has no key, but for the results of unlocks that a failover might undo, for some
// seconds.
func nothingStays(t *testing.T, conn redis.Conn) {
	t.Helper()
	keys, err := redis.Strings(conn.Do("KEYS", "*"))
	for _, key := range keys {
		if ttl, err := redis.Int(conn.Do("PTTL", key)); err != nil || !strings.HasPrefix(key, "redisson_unlock_latch:") || ttl == -1 {
			t.Errorf("left behind: %q for %d ms, %v", key, ttl, err)
		}
	}
	if err != nil {
		t.Error(err)
	}
}

// onReal tells the story by a URL alone.
func onReal(t *testing.T, url string) {
	t.Helper()
	story := tellStory(t, url)
	checkFacts(t, story)
	if !strings.HasPrefix(story, "Redis: what REDIS_URL names") {
		t.Errorf("it does not say what it runs on:\n%s", story)
	}
}

func TestErrorWhereNoServerIs(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := run(t.Context(), &out, "redis://127.0.0.1:1"); err == nil {
		t.Errorf("no error:\n%s", out.String())
	}
}

// haveServer tells whether a redis-server is here. Everybody can look at the quick
// start; what is released was seen to work against the real thing.
func haveServer(t *testing.T) bool {
	t.Helper()
	if os.Getenv("RLOCK_REDIS_SERVER") != "" {
		return true
	}
	if _, err := exec.LookPath("redis-server"); err == nil {
		return true
	}
	if os.Getenv("CI") == "true" {
		t.Fatal("no redis-server")
	}
	t.Log("no redis-server here: only the embedded one was tried")
	return false
}

func tellStory(t *testing.T, url string) string {
	t.Helper()
	var out bytes.Buffer
	began := time.Now()
	err := run(t.Context(), &out, url)
	t.Logf("\n%s", out.String())
	if err != nil {
		t.Fatal(err)
	}
	if d := time.Since(began); d < 5*time.Second {
		t.Errorf("done in %v: something was not waited for", d)
	}
	return out.String()
}

// checkFacts looks for what the story is told for. Its scenes fail by
// themselves if somebody enters who must not.
func checkFacts(t *testing.T, story string) {
	t.Helper()
	next := story
	find := func(pattern string) []float64 {
		t.Helper()
		m := regexp.MustCompile(pattern).FindStringSubmatchIndex(next)
		if m == nil {
			t.Fatalf("the story lacks %q here:\n%s", pattern, next)
		}
		var numbers []float64
		for i := 2; i < len(m); i += 2 {
			n, err := strconv.ParseFloat(next[m[i]:m[i+1]], 64)
			if err != nil {
				t.Fatal(err)
			}
			numbers = append(numbers, n)
		}
		next = next[m[1]:]
		return numbers
	}

	find(`billing +Lock: acquired`)
	find(`shipping +TryLock: locked by another owner`)
	find(`shipping +Lock: waits`)
	shortest := find(`billing +Unlock, .* had ([\d.]+) s to live`)[0]
	// Without the message shipping would look when the lease ends that it was told of at its first try: later than
	// what the key had left at the unlock.
	if woken := find(`shipping +Lock: acquired, ([\d.]+) ms after billing called Unlock`)[0]; woken >= 1000*shortest {
		t.Errorf("woken %v ms after the unlock: that was no message", woken)
	}

	find(`billing +TryLock without As: locked`)
	if n := find(`As\(that owner\): acquired again, holds (\d+)`)[0]; n != 2 {
		t.Errorf("%v holds after two Locks of one owner", n)
	}
	find(`second: the lock is still held`)
	find(`first: the lock is free`)

	const lease = 1.5
	began := find(`([\d.]+) s +billing +Lock: acquired, to be trusted`)[0]
	trusted := find(` until ([\d.]+) s`)[0]
	if trusted <= began || trusted > began+lease {
		t.Errorf("a lease of %v s acquired at %v s is trusted until %v s", lease, began, trusted)
	}
	for range 4 {
		n := find(`([\d.]+) s +billing +at work; the key has ([\d.]+) s to live, trusted until ([\d.]+) s`)
		if at, ttl, until := n[0], n[1], n[2]; ttl <= 0 || ttl > lease || until <= trusted || until <= at {
			t.Errorf("at %v s: %v s to live, trusted until %v s, before until %v s", at, ttl, until, trusted)
		}
		trusted = n[2]
		shortest = min(shortest, n[1])
	}
	if shortest > lease-0.05 {
		t.Errorf("no key was seen with less than %v s to live: time stands still", shortest)
	}
	if trusted < began+2*lease {
		t.Errorf("acquired at %v s, trusted until %v s: the watchdog did little", began, trusted)
	}
	find(`shipping +TryLock: locked by another owner`)

	find(`shipping +ForceUnlock`)
	find(`billing +its context ended: rlock: hold \S+ lease lost`)
	find(`billing +Do: returned ErrLeaseLost`)
	if late := find(`It took ([\d.]+) s to learn`)[0]; late > lease {
		t.Errorf("told of the loss after %v s, later than the lease of %v s allows", late, lease)
	}
	find(`Done in`)
}
