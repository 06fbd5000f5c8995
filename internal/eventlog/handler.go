package eventlog

import (
	"context"
	"log/slog"
)

// caught is a caller's handler. It runs on the client's goroutines, so a line at which
// it panics is silently dropped.
type caught struct{ slog.Handler }

// catching returns a logger like l whose handler does not panic.
func catching(l *slog.Logger) *slog.Logger { return slog.New(caught{l.Handler()}) }

func (h caught) Enabled(ctx context.Context, level slog.Level) (on bool) {
	defer func() { _ = recover() }()
	return h.Handler.Enabled(ctx, level)
}

func (h caught) Handle(ctx context.Context, r slog.Record) error {
	defer func() { _ = recover() }()
	return h.Handler.Handle(ctx, r)
}

func (h caught) WithAttrs(attrs []slog.Attr) (with slog.Handler) {
	with = h
	defer func() { _ = recover() }()
	return caught{h.Handler.WithAttrs(attrs)}
}
