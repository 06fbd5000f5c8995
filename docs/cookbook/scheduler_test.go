//go:build unix

package cookbook_test

import (
	"errors"
	"syscall"
	"testing"

	"github.com/gomodule/redigo/redis"

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

// The leader runs the jobs and says where it is. When it is killed, another one does.
func TestElectedSchedulerRunsTheJobs(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	conn := server.Dial(t)
	all := map[string]*process{}
	for _, address := range []string{"a:80", "b:80"} {
		all[address] = start(t, server, "scheduler", "-every=50ms", "-address="+address, "-watchdog="+lease.String())
	}
	leader := func() string {
		at, err := redis.String(conn.Do("GET", "{jobs}:leader"))
		if err != nil && !errors.Is(err, redis.ErrNil) {
			t.Fatal(err)
		}
		return at
	}
	await(t, "a leader", func() bool { return all[leader()] != nil })
	first := leader()
	await(t, "its runs", func() bool { return all[first].count("ran") > 2 })
	for address, p := range all {
		if address != first && p.count("ran") != 0 {
			t.Error("the other ran a job too")
		}
	}
	all[first].signal(syscall.SIGKILL)
	delete(all, first)
	await(t, "the next leader", func() bool { return all[leader()] != nil })
	for _, p := range all { // the other one
		await(t, "its runs", func() bool { return p.count("ran") > 2 })
		p.signal(syscall.SIGTERM)
		p.wantEnd(0, "")
	}
}
