package operations_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/kit/tablefile"
	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/rlock"
)

func TestDefaultsOfTheServersSettings(t *testing.T) {
	t.Parallel()
	r := start(t)
	rows := tablefile.Rows(t, operations, "| setting | default | what it means for locks |")
	several := tablefile.Rows(t, topologies, "| setting | default | for locks on several servers |")
	if len(rows) < 8 || len(several) < 5 {
		t.Fatalf("%d and %d rows", len(rows), len(several))
	}
	rows = append(rows, several...)
	for _, row := range rows {
		name, want := strings.Trim(row[0], "`"), strings.Trim(row[1], "`")
		if want == "empty" {
			want = ""
		}
		got, err := redis.Strings(r.Do("CONFIG", "GET", name), nil)
		if err != nil || len(got) != 2 {
			t.Errorf("%s: %q, %v", name, got, err)
			continue
		}
		// A limit of open files may allow fewer clients.
		if got[1] != want && !(name == "maxclients" && len(got[1]) < len(want)) {
			t.Errorf("%s is %q, on the page %q", name, got[1], want)
		}
	}
}

func (r *rig) set(name string, value any) {
	r.Helper()
	r.Do("CONFIG", "SET", name, value)
}

func TestFullServerRefusesAcquiresAndGoesOnRenewing(t *testing.T) {
	t.Parallel()
	r := start(t)
	c := r.open(rlock.WithWatchdogTimeout(3 * time.Second))
	h := r.Hold(c.NewLock("invoices"))
	r.set("maxmemory", 1)
	if _, err := c.NewLock("shipping").TryLock(t.Context()); err == nil || !strings.Contains(err.Error(), "OOM") {
		t.Errorf("acquired: %v", err)
	}
	before := len(r.saying("msg=renewed"))
	r.Becomes("renewals go on", func() bool { return len(r.saying("msg=renewed")) > before+2 })
	testbed.Must(t, h.Err())
	testbed.Must(t, h.Unlock(t.Context()))
	// An unlock with a latch needs memory.
	r.set("maxmemory", 0)
	h = r.Hold(c.NewLock("invoices"))
	_ = h.Owner().String()
	r.set("maxmemory", 1)
	refusals := r.refusals()
	released := testbed.Begun(func() error { return h.Unlock(context.WithoutCancel(t.Context())) })
	r.Becomes("the unlock is refused", func() bool { return r.refusals() > refusals })
	r.set("maxmemory", 0)
	if err := testbed.Receive(t, "the end of the unlock", released); err != nil {
		t.Error(err)
	}
}

// refusals counts the OOM replies.
func (r *rig) refusals() int {
	r.Helper()
	_, rest, _ := strings.Cut(r.Text("INFO", "errorstats"), "errorstat_OOM:count=")
	n := 0
	fmt.Sscan(rest, &n) // the field is missing before the first
	return n
}

func TestMaxclientsEndsCallsAfterACommandTimeout(t *testing.T) {
	t.Parallel()
	const timeout = 2 * time.Second
	r := start(t)
	r.set("maxclients", 1) // the rig's own
	began := time.Now()
	_, err := rlock.Open(t.Context(), r.server.URL(), rlock.WithCommandTimeout(timeout))
	if err == nil {
		t.Error("there was room for one more")
	}
	stats, _ := redis.String(r.Do("INFO", "stats"), nil)
	if strings.Contains(stats, "rejected_connections:0\r") {
		t.Errorf("%v, and the server has rejected nobody", err)
	}
	if took := time.Since(began); took < timeout/2 {
		t.Errorf("told after %v", took)
	}
	// A client that writes only after the server has hung up does not read the server's reason.
	for range 5 {
		if err != nil && strings.Contains(err.Error(), "max number of clients reached") {
			return
		}
		_, err = rlock.Open(t.Context(), r.server.URL(), rlock.WithCommandTimeout(timeout))
	}
	t.Errorf("the server's reason is not in the error: %v", err)
}

func TestSettingsOfTheClientThatThePageNames(t *testing.T) {
	t.Parallel()
	r := start(t)
	r.open()
	lines := r.saying("client started")
	if len(lines) != 1 {
		t.Fatal(lines)
	}
	for i, row := range tablefile.Rows(t, operations, "| option | default | larger | smaller |") {
		want := []string{"watchdog_timeout=", "command_timeout=", "replica_sync="}[i]
		value := strings.ReplaceAll(row[1], " ", "")
		if value == "off" {
			value = "false"
		}
		if !strings.Contains(lines[0]+" ", want+value+" ") {
			t.Errorf("%s: the page says %s, the log %s", row[0], row[1], lines[0])
		}
	}
}

// The README's table has the schemes that the error for an unknown scheme names.
func TestErrorOfAnUnknownSchemeNamesThoseThatThereAre(t *testing.T) {
	_, err := rlock.Open(t.Context(), "http://localhost")
	if !errors.Is(err, rlock.ErrInvalidOption) {
		t.Fatal(err)
	}
	readme, err2 := os.ReadFile(filepath.Join("..", "..", "..", "README.md"))
	testbed.Must(t, err2)
	scheme := regexp.MustCompile(`redis[a-z+]*://`)
	var shown []string
	for _, row := range tablefile.Rows(t, "README.md", "| servers | URL | proven with Redisson |") {
		shown = append(shown, scheme.FindAllString(row[1], -1)...)
	}
	named := scheme.FindAllString(err.Error(), -1)
	// The table has those that are played with every release; the sentence below it has the other.
	if more := named[min(len(shown), len(named)):]; !slices.Equal(named[:len(named)-len(more)], shown) || len(more) != 1 || !strings.Contains(string(readme), "`"+more[0]+"`") {
		t.Errorf("the error names %q, the README's table has %q", named, shown)
	}
}
