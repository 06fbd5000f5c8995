//go:build unix

package cookbook_test

import (
	"fmt"
	"sync"
	"syscall"
	"testing"

	"github.com/rlock-go/redisson/internal/redistest"
)

func TestFencingRefusesAPausedHolder(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	conn := server.Dial(t)
	flag := fmt.Sprint("-watchdog=", lease)

	paused := start(t, server, "fencing", "-add=100", "-stall=write", flag)
	paused.await("stalls before the write")
	paused.signal(syscall.SIGSTOP)
	start(t, server, "fencing", "-add=5").wantEnd(0, "token 2: 0 + 5 = 5")
	paused.goOn()
	paused.wantEnd(1, "write with token 1 refused")
	if balance := number(t, conn, "HGET", "account:7", "balance"); balance != 5 {
		t.Errorf("the balance is %d", balance)
	}
	start(t, server, "fencing", "-add=5").wantEnd(0, "token 3: 5 + 5 = 10")
}

// The same, but the other one has only read so far: what it read must not be
// changed under it.
func TestFencingRefusesAPausedHolderBeforeTheFirstWrite(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	flag := fmt.Sprint("-watchdog=", lease)
	paused := start(t, server, "fencing", "-add=100", "-stall=write", flag)
	paused.await("stalls before the write")
	paused.signal(syscall.SIGSTOP)
	other := start(t, server, "fencing", "-add=5", "-stall=write")
	other.await("stalls before the write")
	paused.goOn()
	paused.wantEnd(1, "write with token 1 refused")
	other.goOn()
	other.wantEnd(0, "token 2: 0 + 5 = 5")
}

// A token that it took now, after another one's, would be the larger.
func TestFencingRefusesAPausedHoldersRead(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	flag := fmt.Sprint("-watchdog=", lease)
	paused := start(t, server, "fencing", "-add=100", "-stall=read", flag)
	paused.await("stalls before the read")
	paused.signal(syscall.SIGSTOP)
	other := start(t, server, "fencing", "-add=5", "-stall=write")
	other.await("stalls before the write")
	paused.goOn()
	paused.wantEnd(1, "read with token 1 refused")
	other.goOn()
	other.wantEnd(0, "token 2: 0 + 5 = 5")
}

func TestFencingOneAfterTheOther(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	var all sync.WaitGroup
	for range 6 {
		p := start(t, server, "fencing", "-add=7")
		all.Go(func() { <-p.done })
	}
	all.Wait()
	if balance := number(t, server.Dial(t), "HGET", "account:7", "balance"); balance != 42 {
		t.Errorf("the balance is %d", balance)
	}
}
