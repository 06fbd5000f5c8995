//go:build unix

package cookbook_test

import (
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

func TestShutdownLetsHandlersFinish(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	conn := server.Dial(t)
	service := start(t, server, "shutdown", "-addr=127.0.0.1:0", "-work=4s")
	settle := requests(t, service)

	works := settle("7")
	service.await("settles")
	waits := settle("7")
	await(t, "a handler that waits", func() bool { return waiting(t, conn, "account:7") == 1 })
	service.signal(syscall.SIGTERM)
	if got := <-waits; got != http.StatusServiceUnavailable {
		t.Errorf("the one that waited got %d", got)
	}
	if got := <-works; got != http.StatusOK {
		t.Errorf("the one at work got %d", got)
	}
	service.wantEnd(0, "ended in good order")
	if ttl := number(t, conn, "PTTL", "account:7"); ttl != -2 {
		t.Errorf("the lock is left for %d ms", ttl)
	}
	if got := <-settle("7"); got != 0 {
		t.Errorf("a service that has ended answers %d", got)
	}
}

// What goes wrong has a status of its own, and callers read no errors.
func TestHandlerTellsWhatWentWrong(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	conn := server.Dial(t)
	service := start(t, server, "shutdown", "-addr=127.0.0.1:0", "-work=1ms")
	settle := requests(t, service)
	for account, made := range map[string]struct {
		key    []any
		status int
	}{
		"held":  {[]any{"HSET", "account:held", "0f1f9dd0-4d5f-4b1c-8f44-9f5e29b0a001:1", 1}, http.StatusConflict},
		"other": {[]any{"SET", "account:other", "text"}, http.StatusInternalServerError},
		"free":  {[]any{"DEL", "account:free"}, http.StatusOK},
	} {
		if _, err := conn.Do(made.key[0].(string), made.key[1:]...); err != nil {
			t.Fatal(err)
		}
		if got := <-settle(account); got != made.status {
			t.Errorf("%s: %d, want %d", account, got, made.status)
		}
	}
	service.await(`rlock: acquire "account:other"`) // a line for those who run it
	server.Kill()
	if got := <-settle("free"); got != http.StatusServiceUnavailable && got != http.StatusInternalServerError { // it may have been sent
		t.Errorf("as the server ends: %d", got)
	}
	if got := <-settle("free"); got != http.StatusServiceUnavailable {
		t.Errorf("without a server: %d", got)
	}
}

// Its work is done, and only the release fails. Another try would do the work twice.
func TestHandlerThatBeganIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	redistest.Slow(t, "a release is tried for 13 s")
	server := redistest.Start(t)
	conn := server.Dial(t)
	service := start(t, server, "shutdown", "-addr=127.0.0.1:0")
	works := requests(t, service)("7")
	service.await("settles")
	if _, err := conn.Do("CONFIG", "SET", "min-replicas-to-write", 1); err != nil {
		t.Fatal(err)
	}
	if got := <-works; got != http.StatusInternalServerError {
		t.Errorf("the one whose lock was not released got %d", got)
	}
	service.await(`rlock: release "account:7": not released so far`)
}

func TestShutdownCutsWhatTakesTooLong(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	conn := server.Dial(t)
	service := start(t, server, "shutdown", "-addr=127.0.0.1:0", "-work=1h", "-grace=300ms")
	works := requests(t, service)("7")
	service.await("settles")
	service.signal(syscall.SIGTERM)
	service.wantEnd(1, "context deadline exceeded")
	if got := <-works; got == http.StatusOK {
		t.Error("work of an hour is done")
	}
	// It can't say where its work was cut, so the lock keeps others out for the
	// rest of its lease.
	if number(t, conn, "PTTL", "account:7") <= 0 {
		t.Error("the lock is free, or for ever")
	}
}

// requests makes a function that sends a request and hands over its status, 0
// if there was no answer.
func requests(t *testing.T, service *process) func(account string) <-chan int {
	t.Helper()
	const before = "listens at "
	service.await(before)
	url := strings.TrimPrefix(service.printed()[0], before)
	client := &http.Client{Timeout: patience, Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	return func(account string) <-chan int {
		status := make(chan int, 1)
		go func() {
			response, err := client.Post(url+"/settle/"+account, "", nil)
			if err != nil {
				status <- 0
				return
			}
			response.Body.Close()
			status <- response.StatusCode
		}()
		return status
	}
}
