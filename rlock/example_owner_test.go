package rlock_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"
	"time"

	"github.com/rlock-go/redisson/rlock"
)

// The string is what Redis holds, and what another process can read.
func ExampleOwner_String() {
	owner, err := rlock.ParseOwner("7f3c1a52-0a49-4d0c-9d5e-2f6b1a0c8d11:42")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(owner) // client 7f3c1a52..., Java's thread 42
	// Output:
	// 7f3c1a52-0a49-4d0c-9d5e-2f6b1a0c8d11:42
}

// A log line can name an owner without letting others act as it.
func ExampleOwner_LogValue() {
	owner, err := rlock.ParseOwner("7f3c1a52-0a49-4d0c-9d5e-2f6b1a0c8d11:42")
	if err != nil {
		log.Fatal(err)
	}
	untimed := func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: untimed}))
	logger.Info("handed on", "owner", owner)
	// Output:
	// level=INFO msg="handed on" owner=7f3c1a52-0a49-4d0c-9d5e-2f6b1a0c8d11:42
}

// A message carries an owner to another process, which may act as it.
func ExampleOwner_MarshalText() {
	owner, err := rlock.ParseOwner("7f3c1a52-0a49-4d0c-9d5e-2f6b1a0c8d11:42")
	if err != nil {
		log.Fatal(err)
	}
	message, err := json.Marshal(map[string]rlock.Owner{"continue": owner})
	fmt.Println(string(message), err)
	// Output:
	// {"continue":"7f3c1a52-0a49-4d0c-9d5e-2f6b1a0c8d11:42"} <nil>
}

// The other process reads which owner it may act as.
func ExampleOwner_UnmarshalText() {
	var message struct{ Continue rlock.Owner }
	err := json.Unmarshal([]byte(`{"continue":"7f3c1a52-0a49-4d0c-9d5e-2f6b1a0c8d11:42"}`), &message)
	fmt.Println(message.Continue, err)
	// Output:
	// 7f3c1a52-0a49-4d0c-9d5e-2f6b1a0c8d11:42 <nil>
}

// Another process enters as the owner in the message, and continues what the
// first one began.
func ExampleParseOwner() {
	ctx := context.Background()
	elsewhere, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer elsewhere.Close()
	hold, err := elsewhere.NewLock("order:18").Lock(ctx, rlock.Lease(time.Minute))
	if err != nil {
		log.Fatal(err)
	}
	message := hold.Owner().String()

	// In the other process:
	owner, err := rlock.ParseOwner(message)
	if err != nil {
		log.Fatal(err)
	}
	client, err := rlock.Open(ctx, os.Getenv("REDIS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	lock := client.NewLock("order:18")
	mine, err := lock.TryLock(ctx, rlock.As(owner))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(lock.HoldCount(ctx, owner))
	fmt.Println(mine.Unlock(ctx), lock.UnlockAs(ctx, owner))
	// Output:
	// 2 <nil>
	// <nil> <nil>
}

// ParseOwner accepts only what Redisson would write.
func ExampleParseOwner_refused() {
	_, err := rlock.ParseOwner("worker-3")
	fmt.Println(errors.Is(err, rlock.ErrInvalidOption))
	// Output:
	// true
}
