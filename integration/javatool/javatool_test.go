package javatool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
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
)

var rlock string

func TestMain(m *testing.M) { tool.Main(m, &rlock, "4") }

func run(t *testing.T, url string, args ...string) string {
	t.Helper()
	cmd := exec.Command(rlock, args...)
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
	Token int64
	Queue []struct{ Owner string }
	Free  *int
}

func TestJavasLocksAreShown(t *testing.T) {
	t.Parallel()
	t.Run("single", func(t *testing.T) { t.Parallel(); shows(t, redistest.Start(t).URL()) })
	t.Run("cluster", func(t *testing.T) { t.Parallel(); shows(t, topologytest.StartReplicated(t, 1, 1).ClusterURL()) })
}

func shows(t *testing.T, url string) {
	ctx := t.Context()
	java := javapeer.Start(t, javapeer.Newest, url)
	thread, other := java.Thread("t1"), java.Thread("t2")
	must := func(r javapeer.Reply, err error) javapeer.Reply {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	owner := must(thread.Owner(ctx)).Text()
	for _, kind := range []javapeer.Kind{javapeer.Plain, javapeer.Spin, javapeer.Fair, javapeer.Read, javapeer.Write, javapeer.Fenced, javapeer.NonReentrant} {
		must(thread.Of(kind).Lock(ctx, "java-"+string(kind), javapeer.Watchdog))
	}
	must(thread.Lock(ctx, "java-", javapeer.Watchdog))
	must(other.Permits("java-permits").Set(ctx, "trysetpermits", 2))
	must(other.Permits("java-permits").Acquire(ctx, time.Minute))
	waiting := make(chan error, 1)
	go func() { _, err := other.Of(javapeer.Fair).Lock(ctx, "java-fair", javapeer.Watchdog); waiting <- err }()
	var all map[string]lock
	testbed.Eventually(func() bool {
		var list []lock
		if err := json.Unmarshal([]byte(run(t, url, "ls", "-o", "json", "--match", "java-*")), &list); err != nil {
			t.Fatal(err)
		}
		all = map[string]lock{}
		for _, l := range list {
			all[l.Name] = l
		}
		return len(all["java-fair"].Queue) == 1
	})
	for name, kind := range map[string]string{
		"java-": "lock", "java-spin": "lock", "java-nonreentrant": "lock", "java-fair": "fair", "java-fenced": "fenced",
		"java-read": "read-write", "java-write": "read-write",
	} {
		l := all[name]
		count := 1
		if name == "java-" {
			count = 2
		}
		if l.Kind != kind || len(l.Holders) != 1 || l.Holders[0].Owner != owner || l.Holders[0].Count != count || l.Holders[0].Write != (name == "java-write") {
			t.Errorf("%s, of %s: %+v", name, owner, l)
		}
		if out := run(t, url, "show", name); !strings.Contains(out, owner) {
			t.Errorf("show %s: %s", name, out)
		}
	}
	if l := all["java-fenced"]; l.Token != 1 {
		t.Errorf("%+v", l)
	}
	if l := all["java-permits"]; l.Kind != "permits" || l.Free == nil || *l.Free != 1 || len(l.Holders) != 1 {
		t.Errorf("%+v", l)
	}
	if len(all) != 8 {
		t.Errorf("%d locks: %+v", len(all), all)
	}
	// Java's waiter is woken by force.
	if out := run(t, url, "unlock", "--force", "--yes", "java-fair"); !strings.Contains(out, owner) {
		t.Error(out)
	}
	if err := testbed.Receive(t, "Java's waiter", waiting); err != nil {
		t.Error(err)
	}
}

func TestJavaWaitsForRun(t *testing.T) {
	t.Parallel()
	url := redistest.Start(t).URL()
	java := javapeer.Start(t, javapeer.Newest, url)
	cmd := exec.Command(rlock, "run", "orders", "--", "sh", "-c", "echo ready; read line")
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
