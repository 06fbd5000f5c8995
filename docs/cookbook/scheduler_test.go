//go:build unix

package cookbook_test

import (
	"syscall"
	"testing"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

func TestOneSchedulerRunsTheJob(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	conn := server.Dial(t)
	a := start(t, server, "scheduler", "-every=200ms")
	b := start(t, server, "scheduler", "-every=200ms")
	for _, p := range []*process{a, b} {
		await(t, "both to be told that the job is another's", func() bool { return p.count("left to another") > 2 })
	}
	if n := a.count("ran") + b.count("ran"); n != 1 {
		t.Errorf("it ran %d times", n)
	}
	if left := number(t, conn, "PTTL", "job:mails"); left < 49*60_000 || left > 50*60_000 {
		t.Errorf("no other machine runs it for %d ms", left)
	}
	if number(t, conn, "DEL", "job:mails") != 1 { // as time does
		t.Fatal("it is free")
	}
	await(t, "the next run", func() bool { return a.count("ran")+b.count("ran") == 2 })
	for _, p := range []*process{a, b} {
		p.signal(syscall.SIGTERM)
		p.wantEnd(0, "")
	}
}
