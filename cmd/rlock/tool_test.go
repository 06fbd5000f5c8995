package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/codec"
	"github.com/rlock-go/redisson/internal/testkit/monitor"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
	"github.com/rlock-go/redisson/rlock"
)

// admin returns a connection to a server that takes writes of keys.
func admin(t *testing.T, url string, servers []*redistest.Server) redis.Conn {
	t.Helper()
	if strings.HasPrefix(url, "redis+cluster") {
		c, err := topologytest.Dial(url)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	return servers[0].Dial(t)
}

func TestWatchTellsWhatHappens(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	a, b := open(t, s.URL()).NewLock("lock"), open(t, s.URL()).NewLock("lock")
	c := begin(t, s.URL(), "watch", "--every", "50ms", "lock")
	h := acquire(t, a)
	c.says("by " + h.Owner().String()) // "already", if it was acquired before the first read
	ch := enter(t, b)
	c.says("waited for   lock  by 1")
	if err := h.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	next := <-ch
	c.handedOver("lock", h, next)
	if err := next.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.says("released     lock  by " + next.Owner().String())
	h = acquire(t, a, rlock.Lease(2e9))
	c.says("held         lock  by " + h.Owner().String())
	c.says("lost         lock  by " + h.Owner().String())
	s.Kill()
	c.says("no answer    lock")
	s.Restart()
	c.says("answers      lock")
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if got := c.status(); got != 130 {
		t.Errorf("status %d: %s", got, &c.err)
	}
}

func TestForcedUnlockSaysWhoseAndWakes(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, url string, servers []*redistest.Server) {
		for kind, of := range locks {
			several := !strings.HasPrefix(url, "redis://")
			if kind == "spin" || kind == "nonreentrant" || several && kind != "lock" && kind != "fair" {
				continue // works like the plain one
			}
			h := acquire(t, of(open(t, url), kind))
			ch := enter(t, rival(open(t, url), kind))
			becomes(t, "somebody waits", func() bool { s := shown(t, url, kind); return s.waiting() == 1 }, nothing)
			ended(t, usage, url, "unlock", kind)
			ended(t, usage, url, "unlock", "--force", kind) // there is no terminal to ask at
			channel := codec.Channel(kind)
			if kind == "read" || kind == "write" {
				channel = codec.ReadWriteChannel(kind)
			} else if kind == "fair" {
				channel = codec.FairChannel(kind, shown(t, url, kind).Queue[0].Owner)
			}
			taps := tapped(t, servers)
			if out := ended(t, 0, url, "unlock", "--force", "--yes", kind); strings.Count(out, h.Owner().String()) != 2 || !strings.Contains(out, " now\n") {
				t.Errorf("%s: %s", kind, out)
			}
			// A waiter polls by itself after a while, so the test checks the message itself.
			if sent := messages(taps, channel); sent["publish"] == 0 || strings.HasPrefix(url, "redis+cluster") && sent["spublish"] == 0 {
				t.Errorf("%s: sent to %s: %v", kind, channel, sent)
			}
			if next := <-ch; next == nil {
				t.Errorf("%s: the waiter failed", kind)
			} else if err := next.Unlock(t.Context()); err != nil {
				t.Errorf("%s: %v", kind, err)
			}
			if out := ended(t, 0, url, "unlock", "--force", "--yes", kind); !strings.Contains(out, "nobody holds") {
				t.Errorf("%s: %s", kind, out)
			}
		}
	})
}

// At the question, y frees the lock. Ctrl-C, or a new holder, leaves it alone.
func TestUnlockAsks(t *testing.T) {
	t.Parallel()
	url := single(t)
	a, b := open(t, url).NewLock("lock"), open(t, url).NewLock("lock")
	h := acquire(t, a)
	for _, answer := range []struct {
		typed  string
		status int
	}{{"\n", 1}, {"\x03", 128 + 2}, {"y\n", 1}, {"y\n", 0}} {
		c := prepare(t, url, "unlock", "--force", "lock")
		f, read := c.onTerminal(pty.Winsize{Rows: 24, Cols: 80})
		c.says("[y/N]")
		if answer.typed == "y\n" && answer.status == 1 {
			if err := h.Unlock(t.Context()); err != nil {
				t.Fatal(err)
			}
			h = acquire(t, b)
		}
		if _, err := f.WriteString(answer.typed); err != nil {
			t.Fatal(err)
		}
		got := c.status()
		<-read
		locked, err := a.IsLocked(t.Context())
		if got != answer.status || err != nil || locked != (answer.status != 0) {
			t.Errorf("%q: status %d, locked %v, %v: %s", answer.typed, got, locked, err, &c.out)
		}
	}
}

// The tool reports wrong usage before it sends anything, and says where to find help.
func TestWrongUsageNamesTheHelp(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"run", "--kind", "mutex", "lock", "--", "true"}, {"run", "--on-lost", "cry", "lock", "--", "true"}, {"run", "lock", "true"}, {"run", "--nope"},
		{"ls", "-o", "xml"}, {"ls", "--timeout", "0s"}, {"ls", "extra"}, {"show"}, {"unlock", "lock"}, {"watch", "--every", "1ms"}, {"watch", "a", "b"}, {"watch", ""}, {"ls", "--sentinel-user", "me"}, {"ls", "--url", "rediss://127.0.0.1:1", "--sentinel-tls"}, {"doctor", "x"}, {"nope"},
	} {
		out := ended(t, usage, "redis://127.0.0.1:1", args...)
		command := "rlock " + args[0]
		if args[0] == "nope" {
			command = "rlock"
		}
		if !strings.Contains(out, "See "+command+" --help.") {
			t.Errorf("%q: %s", args, out)
		}
	}
}

func tapped(t *testing.T, servers []*redistest.Server) (taps []*monitor.Stream) {
	for _, s := range servers {
		taps = append(taps, monitor.Tap(t, s.Addr()))
	}
	return taps
}

// messages counts the messages sent to a channel, by the command.
func messages(taps []*monitor.Stream, channel string) map[string]int {
	sent := map[string]int{}
	for _, tap := range taps {
		for _, line := range tap.Mark() {
			if len(line.Args) == 3 && line.Args[1] == channel {
				sent[strings.ToLower(line.Args[0])]++
			}
		}
	}
	return sent
}

// rival returns a lock that one of the kind excludes: for a read lock it is the write lock.
func rival(c *rlock.Client, kind string) *rlock.Lock {
	if kind == "read" {
		return c.NewReadWriteLock("read").WriteLock()
	}
	return locks[kind](c, kind)
}

func TestDoctor(t *testing.T) {
	t.Parallel()
	everywhere(t, func(t *testing.T, url string, servers []*redistest.Server) {
		out := ended(t, 0, url, "doctor")
		for _, what := range []string{"version", "memory", "clients", "round trip", "clock", "CLIENT KILL", "tracking", "scripts", "messages", "account"} {
			if !strings.Contains(out, "ok    "+what) {
				t.Errorf("no ok of %s: %s", what, out)
			}
		}
		several := !strings.HasPrefix(url, "redis://")
		if strings.Contains(out, "ok    WAIT") != several || strings.Contains(out, "todo") {
			t.Error(out)
		}
		if keys, err := redis.Strings(admin(t, url, servers).Do("KEYS", "*")); err != nil || len(keys) != 0 {
			t.Errorf("left %q, %v", keys, err)
		}
	})
}

// doctor prints a line for each fault.
func TestDoctorFinds(t *testing.T) {
	t.Parallel()
	t.Run("settings and account", func(t *testing.T) {
		t.Parallel()
		s := redistest.Start(t, "--maxmemory-policy", "allkeys-lru", "--maxclients", "10")
		for _, rule := range []string{"-publish", "+publish -client|kill", "-zadd", "-evalsha"} {
			if _, err := s.Dial(t).Do("ACL", append([]any{"SETUSER", "default"}, words(rule)...)...); err != nil {
				t.Fatal(err)
			}
			out := ended(t, 1, s.URL(), "doctor", "--timeout", "1s")
			want := map[string]string{
				"-publish": "todo  messages", "+publish -client|kill": "warn  CLIENT KILL", "-zadd": "warn  account       account default may not use fair locks: it lacks zadd", "-evalsha": "todo  scripts",
			}[rule]
			if !strings.Contains(out, want) || !strings.Contains(out, "todo  memory") {
				t.Errorf("%s: %s", rule, out)
			}
		}
	})
	t.Run("Sentinels too slow", func(t *testing.T) {
		t.Parallel()
		set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
		if out := ended(t, 1, set.URL(), "doctor", "--watchdog", "3s", "--read-only"); !strings.Contains(out, "todo  Sentinel") || !strings.Contains(out, "use a longer watchdog") {
			t.Error(out)
		}
		if _, err := set.Sentinels[0].Dial(t).Do("SENTINEL", "SET", redistest.MasterName, "down-after-milliseconds", 3000); err != nil {
			t.Fatal(err)
		}
		if out := ended(t, 1, set.URL(), "doctor", "--watchdog", "6s", "--read-only"); !strings.Contains(out, "SENTINEL SET "+redistest.MasterName+" down-after-milliseconds 1900") {
			t.Error(out)
		}
	})
	t.Run("replicas stand still", func(t *testing.T) {
		t.Parallel()
		set := redistest.StartSentinels(t, redistest.SentinelPasswords{})
		want := []string{"warn  WAIT          1 of 2", "todo  WAIT          none of 2"}
		master := set.Master()
		for _, n := range set.Nodes {
			if n == master {
				continue
			}
			n.Pause()
			if _, err := master.Dial(t).Do("SET", "written", 1); err != nil {
				t.Fatal(err)
			}
			c := begin(t, set.URL(), "doctor")
			_ = c.status() // 1 without any replica
			if out := c.out.String(); !strings.Contains(out, want[0]) {
				t.Error(out)
			}
			want = want[1:]
		}
	})
	t.Run("nobody there", func(t *testing.T) {
		t.Parallel()
		ended(t, unreachable, "redis://127.0.0.1:1", "doctor", "--timeout", "300ms")
	})
}

func words(text string) (all []any) {
	for _, w := range strings.Fields(text) {
		all = append(all, w)
	}
	return all
}

// The password comes from a file, and is printed nowhere, whatever goes wrong.
func TestPasswordStaysSecret(t *testing.T) {
	t.Parallel()
	const secret = "pass#wörd/@:%"
	s := redistest.Start(t, "--requirepass", secret)
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	url := "redis://" + s.Addr()
	for _, args := range [][]string{{"ls"}, {"show", "a"}, {"doctor"}, {"run", "a", "--", "true"}} {
		args = append([]string{args[0], "--password-file", file}, args[1:]...)
		if out := ended(t, 0, url, args...); strings.Contains(out, secret) {
			t.Error(out)
		}
	}
	if err := os.WriteFile(file, []byte(secret+"x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"ls"}, {"run", "a", "--", "true"}} {
		args = append([]string{args[0], "--password-file", file}, args[1:]...)
		if out := ended(t, unreachable, url, args...); strings.Contains(out, secret) || !strings.Contains(out, "WRONGPASS") {
			t.Error(out)
		}
	}
	if out := ended(t, usage, "redis://user:hidden@h:99999", "ls"); strings.Contains(out, "hidden") {
		t.Error(out)
	}
}

// Anybody may write an owner into Redis, and a terminal obeys control characters.
func TestOwnersAreShownAsText(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	c := s.Dial(t)
	const evil = "\x1b[2J"
	for _, command := range [][]any{{"RPUSH", codec.FairQueue("fair"), evil}, {"SET", "permits", 1}, {"ZADD", codec.PermitTimes("permits"), 1e14, evil}} {
		if _, err := c.Do(command[0].(string), command[1:]...); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"ls"}, {"show", "fair"}, {"show", "permits"}, {"watch", "--for", "300ms"}} {
		if out := ended(t, 0, s.URL(), args...); strings.Contains(out, evil) || !strings.Contains(out, args[len(args)-1]) && args[0] == "show" {
			t.Errorf("%q: %q", args, out)
		}
	}
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	url := single(t)
	acquire(t, open(t, url).NewLock("invoices"))
	if out := ended(t, 0, url, "__complete", "show", "inv"); !strings.Contains(out, "invoices\n") {
		t.Error(out)
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if out := ended(t, 0, url, "completion", shell); len(out) < 1000 {
			t.Error(out)
		}
	}
}

func TestGlobIsThatOfScan(t *testing.T) {
	t.Parallel()
	c := redistest.Start(t).Dial(t)
	names := []string{"a", "ab", "a*b", "a.b", "b]", "ö", "a\nb", "^", "a[b", "a]b", "-", ""}
	for _, name := range names {
		if _, err := c.Do("SET", name, 1); err != nil {
			t.Fatal(err)
		}
	}
	for _, pattern := range []string{"*", "a*", "a?", "a?b", `a\*b`, "[ab]*", "[^a]", "[a-c]b", "a.b", "ö", `a\[b`, "", "[]", "[^]", "a[]b]b", `a[\]x]b`, "[c-a]b", "a[^b", "[a", "[a-]", `[\`, "[]a]*", "a[.*]b", "[-a]*"} {
		like, err := glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			keys, err := redis.Strings(c.Do("KEYS", pattern))
			if err != nil {
				t.Fatal(err)
			}
			redisSays := false
			for _, k := range keys {
				redisSays = redisSays || k == name
			}
			if like.matches(name) != redisSays {
				t.Errorf("%q is like %q: %v", name, pattern, redisSays)
			}
		}
	}
}
