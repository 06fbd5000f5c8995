package main

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// isFirst makes the tool the parent of orphans, as process 1 is.
const isFirst = "RLOCK_TEST_FIRST"

func adopt() {
	if os.Getenv(isFirst) != "" {
		_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	}
}

// As process 1, rlock reaps processes whose parents have ended, and still has its command's status.
func TestOrphansAreReaped(t *testing.T) {
	t.Parallel()
	c := prepare(t, single(t), "run", "lock", "--", "sh", "-c", `sh -c 'sleep 0.3 & echo orphan $!'; while [ ! -e "$0" ]; do sleep 0.05; done; exit 7`, t.TempDir()+"/end")
	c.Env = append(c.Env, isFirst+"=1")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	c.says("\n")
	pid := strings.Fields(c.out.String())[1]
	becomes(t, "the orphan is no process any more", func() bool { _, err := os.Stat("/proc/" + pid); return os.IsNotExist(err) }, c.err.String)
	if err := os.WriteFile(c.Args[len(c.Args)-1], nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := c.status(); got != 7 {
		t.Errorf("status %d: %s", got, &c.err)
	}
}
