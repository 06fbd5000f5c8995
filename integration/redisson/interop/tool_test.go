package interop

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/integration/kit/subprocess"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/integration/kit/tool"
	"github.com/rlock-go/redisson/integration/redisson/alike"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/internal/testkit/topologytest"
)

var (
	toolFolder string // of the command-line tool, removed after the tests
	toolBuilt  = sync.OnceValues(func() (program string, err error) {
		if toolFolder, err = os.MkdirTemp("", "tool"); err != nil {
			return "", err
		}
		return tool.Build(toolFolder)
	})
)

func command(t *testing.T, url string, args ...string) *exec.Cmd {
	t.Helper()
	program, err := toolBuilt()
	testbed.Must(t, err)
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), "REDIS_URL="+url)
	return cmd
}

func run(t *testing.T, url string, args ...string) string {
	t.Helper()
	out, err := command(t, url, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("rlock %q: %v: %s", args, err, out)
	}
	return string(out)
}

// listed has the fields of `rlock ls -o json` that are compared.
type listed struct {
	Name, Kind string
	Holders    []struct {
		Owner string
		Count int
		Write bool
	}
	Token     int64
	Queue     []struct{ Owner string }
	Number    *int // free permits, or a latch's count
	Listening struct{ Plain, Sharded int }
}

func list(t *testing.T, url string) map[string]listed {
	t.Helper()
	var all []listed
	testbed.Must(t, json.Unmarshal([]byte(run(t, url, "ls", "-o", "json")), &all))
	by := map[string]listed{}
	for _, l := range all {
		by[l.Name] = l
	}
	return by
}

func TestToolShowsJavasLocks(t *testing.T) {
	t.Parallel()
	t.Run("single", func(t *testing.T) { t.Parallel(); toolShows(t, redistest.Start(t).URL()) })
	t.Run("Sentinels", func(t *testing.T) {
		t.Parallel()
		toolShows(t, redistest.StartSentinels(t, redistest.SentinelPasswords{}).URL())
	})
	t.Run("cluster", func(t *testing.T) { t.Parallel(); toolShows(t, topologytest.StartReplicated(t, 1, 1).ClusterURL()) })
}

// kinds are the tool's names for each kind of lock, in either language.
var kinds = map[javapeer.Kind]string{
	javapeer.Plain: "lock", javapeer.Spin: "lock", javapeer.NonReentrant: "lock", javapeer.Fair: "fair", javapeer.Fenced: "fenced",
	javapeer.Read: "read-write", javapeer.Write: "read-write",
}

// toolShows checks that the tool shows each of Java's locks like Go's of the same kind.
func toolShows(t *testing.T, url string) {
	ctx := t.Context()
	java, golang := alike.NewJava(t, javapeer.Newest, url), alike.NewGo(t, url)
	do := func(s alike.Side, who string, k javapeer.Kind, name, method string, args ...any) {
		t.Helper()
		if said, err := s.Do(ctx, who, k, name, method, args...); err != nil || said == "false" || said == "not held" {
			t.Errorf("%s of %s: %q, %v", method, name, said, err)
		}
	}
	owners := map[string]string{}
	for kind := range kinds {
		for of, s := range map[string]alike.Side{"java-": java, "go-": golang} {
			name := of + string(kind)
			do(s, "t1", kind, name, "lock")
		}
	}
	for kind := range kinds {
		owners["java-"+string(kind)], _ = java.Owner(ctx, "t1")
		owners["go-"+string(kind)] = golang.Hold("t1", kind, "go-"+string(kind), false).Owner().String()
	}
	do(java, "t1", javapeer.Plain, "java-", "lock") // again
	do(java, "t2", "permits", "java-permits", "trysetpermits", 2)
	do(java, "t2", "permits", "java-permits", "acquire", time.Minute)
	do(java, "t2", "semaphore", "java-semaphore", "trysetpermits", 1)
	do(java, "t2", "semaphore", "java-semaphore", "acquire", 1)
	do(java, "t2", "countdown", "java-latch", "trysetcount", 3)
	var waiting sync.WaitGroup
	waiting.Go(func() { do(java, "w1", javapeer.Fair, "java-fair", "lock") })
	waiting.Go(func() { do(java, "w2", "semaphore", "java-semaphore", "acquire", 1) })
	waiting.Go(func() { do(java, "w3", "countdown", "java-latch", "await") })
	waiting.Go(func() { do(java, "w4", javapeer.Plain, "go-", "lock") })
	entered := make(chan bool)
	go func() { // Go waits for Java's
		defer close(entered)
		do(golang, "w", javapeer.Plain, "java-", "lock")
		do(golang, "w", javapeer.Plain, "java-", "unlock")
	}()
	var all map[string]listed
	listens := func(name string) bool { l := all[name].Listening; return l.Plain+l.Sharded > 0 }
	testbed.Within(testbed.Patience, func() bool {
		all = list(t, url)
		return len(all["java-fair"].Queue) == 1 && listens("java-semaphore") && listens("java-latch") && listens("go-") && listens("java-")
	})
	for name, owner := range owners {
		l, kind := all[name], javapeer.Kind(name[strings.Index(name, "-")+1:])
		count := 1
		if name == "java-" {
			count = 2
		}
		want := kinds[kind]
		if kind == javapeer.Fair && len(l.Queue) == 0 {
			want = "lock" // Go's has no waiter
		}
		if l.Kind != want || len(l.Holders) != 1 || l.Holders[0].Owner != owner || l.Holders[0].Count != count || l.Holders[0].Write != (kind == javapeer.Write) {
			t.Errorf("%s, of %s: %+v", name, owner, l)
		}
		if kind == javapeer.Fenced && l.Token != 1 {
			t.Errorf("%+v", l)
		}
		if out := run(t, url, "show", name); !strings.Contains(out, owner) {
			t.Errorf("show %s: %s", name, out)
		}
	}
	for name, want := range map[string]struct {
		kind, is        string
		number, holders int
	}{"java-permits": {"permits", "free", 1, 1}, "java-semaphore": {"semaphore", "free", 0, 0}, "java-latch": {"latch", "count", 3, 0}} {
		if l := all[name]; l.Kind != want.kind || l.Number == nil || *l.Number != want.number || len(l.Holders) != want.holders {
			t.Errorf("%+v", l)
		}
		if out := run(t, url, "show", name); !regexp.MustCompile(fmt.Sprintf(`(?m)^%s +%d$`, want.is, want.number)).MatchString(out) {
			t.Errorf("show %s: %s", name, out)
		}
	}
	if len(all) != 2*len(kinds)+3 {
		t.Errorf("%d locks: %+v", len(all), all)
	}
	// doctor leaves them alone.
	if out := run(t, url, "doctor"); !strings.Contains(out, "ok    messages") {
		t.Error(out)
	}
	if now := list(t, url); len(now) != len(all) {
		t.Errorf("behind doctor there are %d locks: %+v", len(now), now)
	}
	do(java, "t1", javapeer.Plain, "java-", "unlock")
	do(java, "t1", javapeer.Plain, "java-", "unlock")
	testbed.Receive(t, "Go's waiter", entered)
	// Java's waiter is woken by force.
	for _, name := range []string{"java-fair", "go-"} {
		if out := run(t, url, "unlock", "--force", "--yes", name); !strings.Contains(out, owners[name]) {
			t.Error(out)
		}
	}
	do(java, "t2", "semaphore", "java-semaphore", "release", 1)
	for range 3 {
		do(java, "t2", "countdown", "java-latch", "countdown")
	}
	waiting.Wait()
}

func TestJavaWaitsForRun(t *testing.T) {
	t.Parallel()
	v := testbed.Hear(t)
	url := v.Server.URL()
	p := alike.Play{View: v, Most: patience, Sides: map[string]alike.Side{"J": alike.NewJava(t, javapeer.Newest, url)}}.For(t, "orders")
	cmd := command(t, url, "run", "orders", "--", "sh", "-c", "echo ready; read line")
	in, out, err := subprocess.Start(cmd, syscall.SIGKILL)
	p.Must(err)
	_, err = io.ReadFull(out, make([]byte, len("ready\n")))
	p.Must(err)
	p.Run("J t1 trylock = false; J t1& lock")
	if text := run(t, url, "show", "orders"); !regexp.MustCompile(`(?m)^waiting +1 client$`).MatchString(text) {
		t.Error(text)
	}
	fmt.Fprintln(in, "done")
	p.Run("J t1 ends")
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	// And the other way round: the tool waits for Java.
	var released sync.WaitGroup
	released.Go(func() { time.Sleep(300 * time.Millisecond); p.Run("J t1 unlock") })
	run(t, url, "run", "--wait", "20s", "orders", "--", "true")
	released.Wait()
}
