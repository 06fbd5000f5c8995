package rlock

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

var (
	_ slog.LogValuer           = Owner{}
	_ encoding.TextMarshaler   = Owner{}
	_ encoding.TextUnmarshaler = new(Owner)
)

// Another process does not learn of an owner from a log line.
func TestOnlyTextsThatMayLeaveTheProcessMarkAnOwner(t *testing.T) {
	t.Parallel()
	c := open(t, redistest.Start(t))
	h := lockOf(t, c.NewLock("orders"))
	logger := slog.New(slog.NewJSONHandler(io.Discard, nil))
	for name, row := range map[string]struct {
		use   func(Owner)
		marks bool
	}{
		"LogValue":    {func(o Owner) { logger.Info("done", "owner", o) }, false},
		"String":      {func(o Owner) { _ = o.String() }, true},
		"fmt":         {func(o Owner) { fmt.Fprint(io.Discard, o) }, true},
		"MarshalText": {func(o Owner) { _, _ = o.MarshalText() }, true},
	} {
		o := c.NewOwner()
		if row.use(o); c.s.Exclusive(o.o) == row.marks {
			t.Errorf("%s: marks the owner: %t", name, !row.marks)
		}
	}
	logger.Info("held", "hold", h)
	if fmt.Fprintf(io.Discard, "%v %+v %s", h, h, h); !c.s.Exclusive(h.h.Owner()) {
		t.Error("printing a hold marks its owner")
	}
	info, err := c.NewLock("orders").Info(t.Context())
	if err != nil || info.Owner != h.Owner() || !c.s.Exclusive(h.h.Owner()) {
		t.Errorf("asking who holds marks the owner: %v, %v", info.Owner, err)
	}
	if _ = info.Owner.String(); c.s.Exclusive(h.h.Owner()) {
		t.Error("the text of the owner that Info names does not mark it")
	}
}

func TestOwnersTextIsReadBack(t *testing.T) {
	var sent, got struct{ Owner Owner }
	var err error
	if sent.Owner, err = ParseOwner("7f3c1a52-0a49-4d0c-9d5e-2f6b1a0c8d11:42"); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(sent)
	if err != nil || string(text) != `{"Owner":"7f3c1a52-0a49-4d0c-9d5e-2f6b1a0c8d11:42"}` {
		t.Errorf("%s, %v", text, err)
	}
	if err := json.Unmarshal(text, &got); err != nil || got != sent {
		t.Errorf("%v, %v", got, err)
	}
	if err := json.Unmarshal([]byte(`{"Owner":"me"}`), &got); !errors.Is(err, ErrInvalidOption) {
		t.Errorf("%v", err)
	}
}

func TestLogsNameAnOwner(t *testing.T) {
	o, err := ParseOwner("7f3c1a52-0a49-4d0c-9d5e-2f6b1a0c8d11:42")
	if err != nil {
		t.Fatal(err)
	}
	for name, handler := range map[string]func(*bytes.Buffer) slog.Handler{
		"text": func(b *bytes.Buffer) slog.Handler { return slog.NewTextHandler(b, nil) },
		"JSON": func(b *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(b, nil) },
	} {
		var out bytes.Buffer
		slog.New(handler(&out)).Info("done", "owner", o)
		if !strings.Contains(out.String(), "7f3c1a52-0a49-4d0c-9d5e-2f6b1a0c8d11:42") {
			t.Errorf("%s: %s", name, &out)
		}
	}
}
