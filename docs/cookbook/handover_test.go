//go:build unix

package cookbook_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

func TestHandoverIsNeverFreeInBetween(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	conn := server.Dial(t)
	start(t, server, "handover", "submit").wantEnd(0, "submitted 4711")
	refused := func() {
		t.Helper()
		start(t, server, "handover", "submit").wantEnd(1, `rlock: acquire "order:4711": locked by another owner`)
	}
	refused() // the one who locked has ended, and the task lies in the queue
	worker := start(t, server, "handover", "work", "-work=500ms")
	worker.await("works on 4711")
	if number(t, conn, "PTTL", "order:4711") > 30_000 {
		t.Error("the lease is still the one of submit, which nobody extends")
	}
	refused()
	worker.wantEnd(0, "works on 4711")
	if number(t, conn, "EXISTS", "order:4711") != 0 {
		t.Error("the lock is left")
	}
	start(t, server, "handover", "submit").wantEnd(0, "submitted 4711")
}

func TestHandoverThatComesTooLate(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	conn := server.Dial(t)
	start(t, server, "handover", "submit", "-patience=50ms").wantEnd(0, "submitted")
	await(t, "the lease to end", func() bool { return number(t, conn, "EXISTS", "order:4711") == 0 })

	// The lock is somebody else's by now: the one task is out of date, the
	// other is not.
	start(t, server, "handover", "submit").wantEnd(0, "submitted")
	start(t, server, "handover", "work").wantEnd(1, `rlock: acquire "order:4711": locked by another owner`)
	worker := start(t, server, "handover", "work", "-work=1ms")
	worker.wantEnd(0, "works on 4711")

	// Nobody's: it is given back.
	start(t, server, "handover", "submit", "-patience=50ms").wantEnd(0, "submitted")
	await(t, "the lease to end", func() bool { return number(t, conn, "EXISTS", "order:4711") == 0 })
	late := start(t, server, "handover", "work")
	late.wantEnd(1, "the task came too late")
	if late.count("works") != 0 || number(t, conn, "EXISTS", "order:4711") != 0 {
		t.Errorf("%q", late.printed())
	}
}

func TestHandoverDeliveredTwice(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	conn := server.Dial(t)
	start(t, server, "handover", "submit").wantEnd(0, "submitted")
	message, err := redis.Bytes(conn.Do("LINDEX", "tasks", 0))
	if err != nil || !json.Valid(message) {
		t.Fatal(message, err)
	}
	number(t, conn, "RPUSH", "tasks", message)
	first := start(t, server, "handover", "work", "-work=1h")
	first.await("works")
	second := start(t, server, "handover", "work")
	second.wantEnd(1, "the task was delivered twice")
	owner := taskOwner(t, message)
	if holds := number(t, conn, "HGET", "order:4711", owner); holds != 2 {
		t.Errorf("%d holds after the second process left, want those of submit and of the first", holds)
	}
	if left := time.Duration(number(t, conn, "PTTL", "order:4711")) * time.Millisecond; left < time.Second {
		t.Errorf("the first worker's lease was cut to %v", left)
	}
}

func taskOwner(t *testing.T, message []byte) string {
	t.Helper()
	var task struct{ Owner string }
	if err := json.Unmarshal(message, &task); err != nil {
		t.Fatal(err)
	}
	return task.Owner
}
