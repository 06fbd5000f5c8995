//go:build unix

package cookbook_test

import (
	"fmt"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

// database is the flag for a database of the test's own.
func database(t *testing.T) string { return "-db=" + filepath.Join(t.TempDir(), "accounts.db") }

func TestFencingRefusesAPausedHolder(t *testing.T) {
	t.Parallel()
	server, db := redistest.Start(t), database(t)
	flag := fmt.Sprint("-watchdog=", lease)

	paused := start(t, server, "fencing", db, "-add=100", "-stall=write", flag)
	paused.await("stalls before the write")
	paused.signal(syscall.SIGSTOP)
	start(t, server, "fencing", db, "-add=5").wantEnd(0, "token 2: 0 + 5 = 5")
	paused.goOn()
	paused.wantEnd(1, "write with token 1 refused")
	start(t, server, "fencing", db, "-add=5").wantEnd(0, "token 3: 5 + 5 = 10")
}

// The same, but the other one has only read so far: what it read must not be
// changed under it.
func TestFencingRefusesAPausedHolderBeforeTheFirstWrite(t *testing.T) {
	t.Parallel()
	server, db := redistest.Start(t), database(t)
	flag := fmt.Sprint("-watchdog=", lease)
	paused := start(t, server, "fencing", db, "-add=100", "-stall=write", flag)
	paused.await("stalls before the write")
	paused.signal(syscall.SIGSTOP)
	other := start(t, server, "fencing", db, "-add=5", "-stall=write")
	other.await("stalls before the write")
	paused.goOn()
	paused.wantEnd(1, "write with token 1 refused")
	other.goOn()
	other.wantEnd(0, "token 2: 0 + 5 = 5")
}

// A token that it took now, after another one's, would be the larger.
func TestFencingRefusesAPausedHoldersRead(t *testing.T) {
	t.Parallel()
	server, db := redistest.Start(t), database(t)
	flag := fmt.Sprint("-watchdog=", lease)
	paused := start(t, server, "fencing", db, "-add=100", "-stall=read", flag)
	paused.await("stalls before the read")
	paused.signal(syscall.SIGSTOP)
	other := start(t, server, "fencing", db, "-add=5", "-stall=write")
	other.await("stalls before the write")
	paused.goOn()
	paused.wantEnd(1, "read with token 1 refused")
	other.goOn()
	other.wantEnd(0, "token 2: 0 + 5 = 5")
}

func TestFencingOneAfterTheOther(t *testing.T) {
	t.Parallel()
	server, db := redistest.Start(t), database(t)
	var all sync.WaitGroup
	for range 6 {
		p := start(t, server, "fencing", db, "-add=7")
		all.Go(func() { <-p.done })
	}
	all.Wait()
	start(t, server, "fencing", db, "-add=1").wantEnd(0, "token 7: 42 + 1 = 43")
}

// A nested acquire has a newer token, which the database has seen when the outer
// holder writes.
func TestFencingLetsAHolderWriteAfterItsReentry(t *testing.T) {
	t.Parallel()
	server, db := redistest.Start(t), database(t)
	start(t, server, "fencing", db, "-add=5", "-nested").wantEnd(0, "token 2: 0 + 5 = 5")

	paused := start(t, server, "fencing", db, "-add=100", "-stall=write", "-nested", fmt.Sprint("-watchdog=", lease))
	paused.await("stalls before the write")
	start(t, server, "fencing", db, "-add=1", "-account=account:8").wantEnd(0, "token 1: 0 + 1 = 1")
	paused.goOn()
	paused.wantEnd(0, "token 4: 5 + 100 = 105")
}

// The counter is lost while somebody has read, and the next one is given the same token.
func TestFencingRefusesAnEqualTokenOfAnotherHolder(t *testing.T) {
	t.Parallel()
	server, db := redistest.Start(t), database(t)
	first := start(t, server, "fencing", db, "-add=100", "-stall=write")
	first.await("stalls before the write")
	if _, err := server.Dial(t).Do("FLUSHALL"); err != nil {
		t.Fatal(err)
	}
	start(t, server, "fencing", db, "-add=5").wantEnd(1, "read with token 1 refused")
}
