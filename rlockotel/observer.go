package rlockotel

import (
	"context"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/rlock-go/redisson/rlock"
)

const scope = "github.com/rlock-go/redisson/rlockotel"

// Option is a setting of an observer.
type Option func(*observer)

type observer struct {
	meters   metric.MeterProvider
	tracers  trace.TracerProvider
	label    func(name string) string
	renewals bool

	metrics *metrics
	tracer  trace.Tracer
}

// WithMeterProvider sets where metrics go. Default is OpenTelemetry's global provider.
func WithMeterProvider(p metric.MeterProvider) Option { return func(o *observer) { o.meters = p } }

// WithTracerProvider sets where spans go. Default is OpenTelemetry's global provider.
func WithTracerProvider(p trace.TracerProvider) Option { return func(o *observer) { o.tracers = p } }

// WithName adds the attribute rlock.name, with what of returns for a lock's name, to spans
// and to all metrics but the three gauges and those of commands. Each value makes a series
// of its own, so it must return one of a few. Default is no such attribute.
func WithName(of func(name string) string) Option { return func(o *observer) { o.label = of } }

// WithRenewalSpans makes a span of each command that no call waits for, renewals above
// all. Default is none.
func WithRenewalSpans() Option { return func(o *observer) { o.renewals = true } }

// New makes an observer for rlock.WithObserver, of any number of clients. An error is that
// of the MeterProvider.
func New(opts ...Option) (rlock.Observer, error) {
	o := &observer{meters: otel.GetMeterProvider(), tracers: otel.GetTracerProvider()}
	for _, set := range opts {
		set(o)
	}
	var err error
	if o.metrics, err = newMetrics(o.meters.Meter(scope)); err != nil {
		return rlock.Observer{}, err
	}
	o.tracer = o.tracers.Tracer(scope)
	return rlock.Observer{
		Started: o.metrics.started, Closed: o.metrics.closed,
		Acquire: o.begin("rlock.acquire"), Release: o.begin("rlock.release"),
		Waiting: o.waiting, Woken: o.woken, Acquired: o.acquired, Released: o.released,
		Ended: o.ended, Renewed: o.renewed, Undone: o.undone, Command: o.command,
	}, nil
}

// of are the attributes of an event.
func (o *observer) of(s rlock.Subject, more ...attribute.KeyValue) []attribute.KeyValue {
	all := append(more, attribute.String("rlock.kind", s.Kind))
	if o.label != nil {
		all = append(all, attribute.String("rlock.name", o.label(s.Name)))
	}
	return all
}

func (o *observer) count(ctx context.Context, n metric.Int64Counter, s rlock.Subject, key, value string) {
	n.Add(ctx, 1, metric.WithAttributes(o.of(s, attribute.String(key, value))...))
}

func (o *observer) begin(span string) func(context.Context, rlock.Subject) context.Context {
	return func(ctx context.Context, s rlock.Subject) context.Context {
		ctx, _ = o.tracer.Start(ctx, span, trace.WithAttributes(o.of(s)...))
		return ctx
	}
}

// end ends the span of a call.
func end(ctx context.Context, err error, attrs ...attribute.KeyValue) {
	span := trace.SpanFromContext(ctx)
	if span.IsRecording() {
		span.SetAttributes(attrs...)
		if err != nil {
			span.SetStatus(codes.Error, err.Error())
		}
	}
	span.End()
}

func (o *observer) waiting(ctx context.Context, _ rlock.Subject, at time.Time) {
	trace.SpanFromContext(ctx).AddEvent("wait", trace.WithTimestamp(at))
}

func (o *observer) woken(ctx context.Context, s rlock.Subject, e rlock.WakeEvent) {
	source := attribute.String("rlock.source", e.Source)
	trace.SpanFromContext(ctx).AddEvent("woken", trace.WithTimestamp(e.At), trace.WithAttributes(source))
	o.count(ctx, o.metrics.wakeUps, s, "rlock.source", e.Source)
}

func (o *observer) acquired(ctx context.Context, s rlock.Subject, e rlock.AcquireEvent) {
	outcome, contended := attribute.String("rlock.outcome", e.Outcome), attribute.Bool("rlock.contended", e.Contended)
	o.metrics.acquires.Record(ctx, e.Wait.Seconds(), metric.WithAttributes(o.of(s, outcome, contended)...))
	err := e.Err
	if e.Outcome == "locked" || e.Outcome == "timeout" || e.Outcome == "cancelled" {
		err = nil // what the caller asked for
	}
	end(ctx, err, outcome, contended)
}

func (o *observer) released(ctx context.Context, _ rlock.Subject, e rlock.ReleaseEvent) {
	if e.Reason != "" {
		trace.SpanFromContext(ctx).AddEvent("lost", trace.WithTimestamp(e.LostAt), trace.WithAttributes(attribute.String("rlock.reason", e.Reason)))
	}
	end(ctx, e.Err)
}

func (o *observer) ended(s rlock.Subject, e rlock.HoldEvent) {
	ctx := context.Background()
	o.metrics.holdTimes.Record(ctx, e.Held.Seconds(), metric.WithAttributes(o.of(s, attribute.String("rlock.end", e.End))...))
	if e.Reason != "" {
		o.count(ctx, o.metrics.lost, s, "rlock.reason", e.Reason)
	}
}

func (o *observer) renewed(s rlock.Subject, e rlock.RenewalEvent) {
	o.count(context.Background(), o.metrics.renewals, s, "rlock.outcome", e.Outcome)
}

func (o *observer) undone(s rlock.Subject, e rlock.UndoEvent) {
	o.count(context.Background(), o.metrics.undos, s, "rlock.outcome", e.Outcome)
}

func (o *observer) command(ctx context.Context, e rlock.CommandEvent) {
	attrs := []attribute.KeyValue{attribute.String("db.system.name", "redis"), attribute.String("db.operation.name", e.Name)}
	if e.Leases > 1 {
		attrs = append(attrs, attribute.Int("db.operation.batch.size", e.Leases))
	}
	if host, port, err := net.SplitHostPort(e.Server); err == nil {
		attrs = append(attrs, attribute.String("server.address", host))
		if n, err := strconv.Atoi(port); err == nil {
			attrs = append(attrs, attribute.Int("server.port", n))
		}
	}
	if e.Err != nil {
		what := "lost" // it was sent, and there was no reply
		if said, ok := e.Err.(redis.Error); ok {
			what, _, _ = strings.Cut(string(said), " ")
			attrs = append(attrs, attribute.String("db.response.status_code", what))
		}
		attrs = append(attrs, attribute.String("error.type", what))
	}
	o.metrics.commands.Record(ctx, e.Duration.Seconds(), metric.WithAttributes(attrs...))
	if !o.renewals && !trace.SpanContextFromContext(ctx).IsValid() {
		return
	}
	_, span := o.tracer.Start(ctx, e.Name, trace.WithSpanKind(trace.SpanKindClient), trace.WithTimestamp(e.Start), trace.WithAttributes(attrs...))
	if e.Err != nil {
		span.SetStatus(codes.Error, "")
	}
	span.End(trace.WithTimestamp(e.Start.Add(e.Duration)))
}
