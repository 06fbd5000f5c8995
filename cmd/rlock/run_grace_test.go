package main

import (
	"strings"
	"testing"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// A command that takes a moment to stop has stopped when the next one begins, whether its lease is fixed or can't be renewed.
func TestCommandHasStoppedWhenTheNextBegins(t *testing.T) {
	t.Parallel()
	for what, flags := range map[string][]string{"fixed": {"--lease", "4s"}, "renewed": {"--watchdog", "4s"}} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := redistest.Start(t)
			admin := s.Dial(t)
			if _, err := admin.Do("ACL", "SETUSER", "first", "on", "nopass", "~*", "&*", "+@all"); err != nil {
				t.Fatal(err)
			}
			first := begin(t, "redis://first:any@"+s.Addr(), append(append([]string{"run", "--grace", "2s"}, flags...), "lock", "--",
				"sh", "-c", `trap "sleep 0.5; exit" TERM; echo pid $$ .; while :; do sleep 0.1; done`)...)
			first.says(" .")
			pid := strings.Fields(first.out.String())[1]
			if _, err := admin.Do("ACL", "SETUSER", "first", "-evalsha", "-eval"); err != nil {
				t.Fatal(err)
			}
			if out := ended(t, 0, s.URL(), "run", "--wait", "1m", "lock", "--", "sh", "-c", "kill -0 "+pid+" 2>&1 || echo alone"); !strings.Contains(out, "alone") {
				t.Error("the first command still ran:", out)
			}
			if got := first.status(); got != lost || !strings.Contains(first.err.String(), "is about to be lost: ") {
				t.Errorf("status %d: %s", got, &first.err)
			}
		})
	}
}

// What has to be stopped by force gets it when the lease ends, and the tool does not claim that nobody else had the lock.
func TestCommandThatDoesNotStopIsKilledAtTheEnd(t *testing.T) {
	t.Parallel()
	c := begin(t, single(t), "run", "--lease", "2s", "--grace", "500ms", "lock", "--", "sh", "-c", `trap "" TERM; echo ready; while :; do sleep 0.1; done`)
	c.says("ready")
	if got := c.status(); got != lost || !strings.Contains(c.err.String(), "is about to be lost: ") || !strings.Contains(c.err.String(), "others may have had it") {
		t.Errorf("status %d: %s", got, &c.err)
	}
}

func TestGraceThatDoesNotFitIsRefused(t *testing.T) {
	t.Parallel()
	url := single(t)
	for flags, says := range map[string]string{
		"--grace 15001ms":              "--grace 15.001s does not fit into the lease: at most half of --watchdog, which is 15s",
		"--watchdog 3s --grace 2s":     "at most half of --watchdog, which is 1.5s",
		"--lease 3s --grace 1500001us": "at most half of --lease, which is 1.5s",
		"--grace -1s":                  "--grace -1s does not fit",
	} {
		if out := ended(t, usage, url, append(append([]string{"run"}, strings.Fields(flags)...), "lock", "--", "true")...); !strings.Contains(out, says) {
			t.Errorf("%s: %s", flags, out)
		}
	}
	for _, flags := range []string{"--grace 15s", "--lease 100ms", "--watchdog 4s --grace 2s", "--lease 3s --grace 1500ms --kind permit --wait 0", "--on-lost warn --watchdog 4s"} {
		status := 0
		if strings.Contains(flags, "permit") {
			status = notAcquired // there are none
		}
		c := begin(t, url, append(append([]string{"run"}, strings.Fields(flags)...), "lock", "--", "true")...)
		got := c.status()
		if got == lost && flags == "--lease 100ms" { // which a busy machine may need for less than the command
			continue
		}
		if got != status {
			t.Errorf("%s: status %d, not %d: %s", flags, got, status, &c.err)
		}
	}
}
