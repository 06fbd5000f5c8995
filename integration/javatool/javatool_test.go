package javatool

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/internal/subprocess"
	"github.com/rlock-go/redisson/integration/internal/tool"
	"github.com/rlock-go/redisson/integration/javapeer"
	"github.com/rlock-go/redisson/integration/testbed"
	"github.com/rlock-go/redisson/internal/redistest"
	"github.com/rlock-go/redisson/internal/topologytest"
	"github.com/rlock-go/redisson/rlock"
)

var rlockTool string

func TestMain(m *testing.M) { tool.Main(m, &rlockTool, "4") }

func run(t *testing.T, url string, args ...string) string {
	t.Helper()
	cmd := exec.Command(rlockTool, args...)
	cmd.Env = append(os.Environ(), "REDIS_URL="+url)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("rlock %q: %v: %s", args, err, out)
	}
	return string(out)
}

// lock is what of `rlock ls -o json` is compared.
type lock struct {
	Name, Kind, Mode string
	Holders          []struct {
		Owner string
		Count int
		Write bool
	}
	Token     int64
	Queue     []struct{ Owner string }
	Free      *int
	Listening struct{ Plain, Sharded int }
}

func TestJavasLocksAreShown(t *testing.T) {
	t.Parallel()
	t.Run("single", func(t *testing.T) { t.Parallel(); shows(t, redistest.Start(t).URL()) })
	t.Run("Sentinels", func(t *testing.T) {
		t.Parallel()
		shows(t, redistest.StartSentinels(t, redistest.SentinelPasswords{}).URL())
	})
	t.Run("cluster", func(t *testing.T) { t.Parallel(); shows(t, topologytest.StartReplicated(t, 1, 1).ClusterURL()) })
}

// list is what ls shows of these names.
func list(t *testing.T, url, match string) map[string]lock {
	t.Helper()
	var all []lock
	if err := json.Unmarshal([]byte(run(t, url, "ls", "-o", "json", "--match", match)), &all); err != nil {
		t.Fatal(err)
	}
	by := map[string]lock{}
	for _, l := range all {
		by[l.Name] = l
	}
	return by
}

// kinds are those that a lock of each sort of both languages is shown as.
var kinds = map[javapeer.Kind]string{
	javapeer.Plain: "lock", javapeer.Spin: "lock", javapeer.NonReentrant: "lock", javapeer.Fair: "fair", javapeer.Fenced: "fenced",
	javapeer.Read: "read-write", javapeer.Write: "read-write",
}

// Each lock of Java's is shown as the one of Go's beside it is.
func shows(t *testing.T, url string) {
	ctx := t.Context()
	java := javapeer.Start(t, javapeer.Newest, url)
	client, err := rlock.Open(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	thread, other := java.Thread("t1"), java.Thread("t2")
	must := func(r javapeer.Reply, err error) javapeer.Reply {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	owner := must(thread.Owner(ctx)).Text()
	owners := map[string]string{}
	for kind := range kinds {
		must(thread.Of(kind).Lock(ctx, "java-"+string(kind), javapeer.Watchdog))
		h, err := kind.GoLock(client, "go-"+string(kind)).Lock(ctx)
		if err != nil {
			t.Fatal(err)
		}
		owners["java-"+string(kind)], owners["go-"+string(kind)] = owner, h.Owner().String()
	}
	must(thread.Lock(ctx, "java-", javapeer.Watchdog)) // again
	must(other.Permits("java-permits").Set(ctx, "trysetpermits", 2))
	must(other.Permits("java-permits").Acquire(ctx, time.Minute))
	must(other.Semaphore("java-semaphore").Do(ctx, "trysetpermits", 1))
	must(other.Semaphore("java-semaphore").Do(ctx, "acquire", 1))
	must(other.CountDownLatch("java-latch").Do(ctx, "trysetcount", 3))
	waiting := make(chan error, 5)
	wait := func(thread string, do func(t *javapeer.Thread) (javapeer.Reply, error)) {
		go func() { _, err := do(java.Thread(thread)); waiting <- err }()
	}
	wait("w1", func(t *javapeer.Thread) (javapeer.Reply, error) {
		return t.Of(javapeer.Fair).Lock(ctx, "java-fair", javapeer.Watchdog)
	})
	wait("w2", func(t *javapeer.Thread) (javapeer.Reply, error) {
		return t.Semaphore("java-semaphore").Do(ctx, "acquire", 1)
	})
	wait("w3", func(t *javapeer.Thread) (javapeer.Reply, error) {
		return t.CountDownLatch("java-latch").Do(ctx, "await")
	})
	wait("w4", func(t *javapeer.Thread) (javapeer.Reply, error) { return t.Lock(ctx, "go-", javapeer.Watchdog) }) // for Go's
	entered := make(chan error, 1)
	go func() { // Go waits for Java's
		h, err := client.NewLock("java-").Lock(ctx)
		if err == nil {
			err = h.Unlock(ctx)
		}
		entered <- err
	}()
	var all map[string]lock
	listens := func(name string) bool { l := all[name].Listening; return l.Plain+l.Sharded > 0 }
	testbed.Eventually(func() bool {
		all = list(t, url, "*")
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
			want = "lock" // nobody waits for Go's
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
		kind          string
		free, holders int
	}{"java-permits": {"permits", 1, 1}, "java-semaphore": {"semaphore", 0, 0}, "java-latch": {"latch", 3, 0}} {
		if l := all[name]; l.Kind != want.kind || l.Free == nil || *l.Free != want.free || len(l.Holders) != want.holders {
			t.Errorf("%+v", l)
		}
		if out := run(t, url, "show", name); !regexp.MustCompile(fmt.Sprintf(`(?m)^free +%d$`, want.free)).MatchString(out) {
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
	if now := list(t, url, "*"); len(now) != len(all) {
		t.Errorf("behind doctor there are %d locks: %+v", len(now), now)
	}
	handsOver(t, url, thread, owner, entered)
	// Java's waiter is woken by force.
	if out := run(t, url, "unlock", "--force", "--yes", "java-fair"); !strings.Contains(out, owner) {
		t.Error(out)
	}
	must(other.Semaphore("java-semaphore").Do(ctx, "release", 1))
	for range 3 {
		must(other.CountDownLatch("java-latch").Do(ctx, "countdown"))
	}
	if out := run(t, url, "unlock", "--force", "--yes", "go-"); !strings.Contains(out, owners["go-"]) {
		t.Error(out)
	}
	for range 4 {
		if err := testbed.Receive(t, "Java's waiter", waiting); err != nil {
			t.Error(err)
		}
	}
}

// handsOver has watch see that Java's lock, which Java holds twice, goes to Go's waiter.
func handsOver(t *testing.T, url string, thread *javapeer.Thread, owner string, entered <-chan error) {
	t.Helper()
	cmd := exec.Command(rlockTool, "watch", "--every", "50ms", "java-")
	cmd.Env = append(os.Environ(), "REDIS_URL="+url)
	_, out, err := subprocess.Start(cmd, syscall.SIGKILL)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	says := func(text string) {
		t.Helper()
		for lines.Scan() {
			if strings.Contains(lines.Text(), text) {
				return
			}
		}
		t.Fatalf("watch ended without %q: %v", text, lines.Err())
	}
	says("held         java-  by " + owner)
	for range 2 {
		if _, err := thread.Unlock(t.Context(), "java-"); err != nil {
			t.Fatal(err)
		}
	}
	says(owner) // released, or handed over
	if err := testbed.Receive(t, "Go's waiter", entered); err != nil {
		t.Error(err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

func TestJavaWaitsForRun(t *testing.T) {
	t.Parallel()
	url := redistest.Start(t).URL()
	java := javapeer.Start(t, javapeer.Newest, url)
	cmd := exec.Command(rlockTool, "run", "orders", "--", "sh", "-c", "echo ready; read line")
	cmd.Env = append(os.Environ(), "REDIS_URL="+url)
	in, out, err := subprocess.Start(cmd, syscall.SIGKILL)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, len("ready\n"))); err != nil {
		t.Fatal(err)
	}
	thread := java.Thread("t1")
	if r, err := thread.TryLock(t.Context(), "orders"); err != nil || r.Bool() {
		t.Fatalf("Java got it: %v", err)
	}
	entered := make(chan error, 1)
	go func() { _, err := thread.Lock(t.Context(), "orders", javapeer.Watchdog); entered <- err }()
	testbed.Eventually(func() bool {
		return bytes.Contains([]byte(run(t, url, "show", "orders")), []byte("1 on the plain channel"))
	})
	fmt.Fprintln(in, "done")
	began := time.Now()
	if err := testbed.Receive(t, "Java's lock", entered); err != nil {
		t.Error(err)
	}
	t.Logf("Java entered %v after the command was let end", time.Since(began))
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	// And the other way round: the tool waits for Java.
	go func() { time.Sleep(300 * time.Millisecond); _, _ = thread.Unlock(t.Context(), "orders") }()
	run(t, url, "run", "--wait", "20s", "orders", "--", "true")
}
