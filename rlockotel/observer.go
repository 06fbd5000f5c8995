package rlockotel

import (
	"context"
	"errors"
	"net"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/gomodule/redigo/redis"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/rlock-go/redisson/rlock"
)

const (
	scope  = "github.com/rlock-go/redisson/rlockotel"
	schema = "https://opentelemetry.io/schemas/1.34.0" // defines the attributes of commands
)

// version returns the version of this module that the program was built with.
func version() string {
	info, _ := debug.ReadBuildInfo()
	if info == nil {
		return ""
	}
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == scope {
			return m.Version
		}
	}
	return ""
}

// Option is a setting of an observer.
type Option func(*observer)

type observer struct {
	meters   metric.MeterProvider
	tracers  trace.TracerProvider
	label    func(name string) string
	renewals bool

	metrics *metrics
	tracer  trace.Tracer // nil: no spans

	acquireTimes, holds, others sets[event]
	commands                    sets[sent]
}

// Attributes that several events have.
const (
	outcome   = attribute.Key("rlock.outcome")
	contended = attribute.Key("rlock.contended")
	source    = attribute.Key("rlock.source")
	reason    = attribute.Key("rlock.reason")
	change    = attribute.Key("rlock.change")
	lockName  = attribute.Key("rlock.name")
)

// WithMeterProvider sets where metrics go. Default is OpenTelemetry's global provider.
func WithMeterProvider(p metric.MeterProvider) Option { return func(o *observer) { o.meters = p } }

// WithTracerProvider sets where spans go. Default is OpenTelemetry's global provider. With
// the provider of package trace/noop the observer starts no spans, which is the cheapest if
// you need only metrics.
func WithTracerProvider(p trace.TracerProvider) Option { return func(o *observer) { o.tracers = p } }

// WithName sets the attribute rlock.name of spans and metrics, whose value is label(name) of a
// lock's name. If it returns an empty text, there is no such attribute. These metrics never have
// it: rlock.holds, rlock.waiters, rlock.lease.remaining.min, those of commands, and counters that
// come from Stats. In metrics each value makes a separate series, so label must return one of a
// few values. Default is the lock's name in spans, and none in metrics.
func WithName(label func(name string) string) Option { return func(o *observer) { o.label = label } }

// WithRenewalSpans makes a span for each command that no call waits for, mostly renewals.
// Default is none.
func WithRenewalSpans() Option { return func(o *observer) { o.renewals = true } }

// New makes an observer for rlock.WithObserver. Clients may share it. The error is the
// MeterProvider's, or says that an option or a provider is nil.
func New(opts ...Option) (rlock.Observer, error) {
	o := &observer{meters: otel.GetMeterProvider(), tracers: otel.GetTracerProvider()}
	for _, set := range opts {
		if set == nil {
			return rlock.Observer{}, errors.New("rlockotel: a nil Option")
		}
		set(o)
	}
	if o.meters == nil || o.tracers == nil {
		return rlock.Observer{}, errors.New("rlockotel: a nil provider")
	}
	o.acquireTimes.attributes, o.holds.attributes, o.others.attributes = attributesOf, attributesOf, attributesOf
	o.commands.attributes = ofCommand
	var err error
	if o.metrics, err = newMetrics(o.meters.Meter(scope, metric.WithInstrumentationVersion(version()), metric.WithSchemaURL(schema)), o.label); err != nil {
		return rlock.Observer{}, err
	}
	o.metrics.acquired.attributes = attributesOf
	told := rlock.Observer{
		Started: o.metrics.started, Closed: o.metrics.closed,
		Woken: o.woken, Acquired: o.acquired, Ended: o.ended, Renewed: o.renewed, Failing: o.failing, Undone: o.undone, Command: o.command,
	}
	if _, off := o.tracers.(noop.TracerProvider); !off {
		o.tracer = o.tracers.Tracer(scope, trace.WithInstrumentationVersion(version()), trace.WithSchemaURL(schema))
		told.Acquire, told.Release = o.begin("rlock.acquire"), o.begin("rlock.release")
		told.Waiting, told.Released = o.waiting, o.released
	}
	return told, nil
}

// of returns the options for an event of a lock.
func (o *observer) of(c *sets[event], s rlock.Subject, e event) *kept[event] {
	e.kind = string(s.Kind)
	if o.label != nil {
		e.name = text(o.label(s.Name))
	}
	return c.options(e)
}

// text makes a name valid UTF-8. An exporter drops all that it sends with other bytes.
func text(name string) string { return strings.ToValidUTF8(name, "\uFFFD") }

// attributesOf returns the attributes of a lock, and those that an event adds.
func attributesOf(e event) []attribute.KeyValue {
	all := []attribute.KeyValue{attribute.String("rlock.kind", e.kind)}
	if e.name != "" {
		all = append(all, lockName.String(e.name))
	}
	if e.key != "" {
		all = append(all, e.key.String(e.value))
	}
	if e.contended != "" {
		all = append(all, contended.Bool(e.contended == "true"))
	}
	return all
}

func (o *observer) count(ctx context.Context, n metric.Int64Counter, s rlock.Subject, key attribute.Key, value string) {
	n.Add(ctx, 1, o.of(&o.others, s, event{key: key, value: value}).add...)
}

func (o *observer) begin(span string) func(context.Context, rlock.Subject) context.Context {
	return func(ctx context.Context, s rlock.Subject) context.Context {
		ctx, begun := o.tracer.Start(ctx, span, o.of(&o.others, s, event{}).start...)
		if !begun.IsRecording() {
			return ctx // there is nothing to end, and this saves an allocation
		}
		if o.label == nil {
			begun.SetAttributes(lockName.String(text(s.Name)))
		}
		return context.WithValue(ctx, o, begun)
	}
}

// span returns the span that o records for a call. The context's current span may be that of
// another observer.
func (o *observer) span(ctx context.Context) trace.Span {
	if own, ok := ctx.Value(o).(trace.Span); ok {
		return own
	}
	return noop.Span{}
}

// end ends the span of a call.
func end(span trace.Span, err error) {
	if err != nil && span.IsRecording() {
		span.SetStatus(codes.Error, err.Error())
	}
	span.End()
}

func (o *observer) waiting(ctx context.Context, _ rlock.Subject, at time.Time) {
	o.span(ctx).AddEvent("wait", trace.WithTimestamp(at))
}

func (o *observer) woken(ctx context.Context, s rlock.Subject, e rlock.WakeEvent) {
	o.count(ctx, o.metrics.wakeUps, s, source, string(e.Source))
	if o.tracer == nil {
		return
	}
	if span := o.span(ctx); span.IsRecording() {
		span.AddEvent("woken", trace.WithTimestamp(e.At), trace.WithAttributes(source.String(string(e.Source))))
	}
}

func (o *observer) acquired(ctx context.Context, s rlock.Subject, e rlock.AcquireEvent) {
	of := event{key: outcome, value: string(e.Outcome), contended: "false"}
	if e.Contended {
		of.contended = "true"
	}
	if o.of(&o.metrics.acquired, s, of).n.Add(1) == 1 {
		o.start(s)
	}
	if e.Outcome == rlock.OutcomeAcquired {
		of.key, of.value = "", ""
		o.metrics.acquireTimes.Record(ctx, e.Wait.Seconds(), o.of(&o.acquireTimes, s, of).record...)
	}
	if o.tracer == nil {
		return
	}
	err := e.Err
	if e.Outcome == rlock.OutcomeLocked || e.Outcome == rlock.OutcomeTimeout || e.Outcome == rlock.OutcomeCancelled {
		err = nil // the caller asked for that
	}
	span := o.span(ctx)
	if span.IsRecording() {
		span.SetAttributes(outcome.String(string(e.Outcome)), contended.Bool(e.Contended))
	}
	end(span, err)
}

// start makes the series that alerts use, with value 0, because Prometheus sees no increase in
// a series that begins with 1.
func (o *observer) start(s rlock.Subject) {
	each := func(n metric.Int64Counter, key attribute.Key, values ...string) {
		for _, v := range values {
			n.Add(context.Background(), 0, o.of(&o.others, s, event{key: key, value: v}).add...)
		}
	}
	each(o.metrics.lost, reason, "taken", "expired", "unreachable")
	each(o.metrics.renewals, outcome, "renewed", "failed", "lost")
	each(o.metrics.failing, change, "begun", "ended")
	each(o.metrics.wakeUps, source, "message", "expiry", "handoff", "look")
	each(o.metrics.undos, outcome, "undone", "nothing", "failed")
	for _, v := range []string{"acquired", "locked", "timeout", "cancelled", "uncertain", "error"} {
		o.of(&o.metrics.acquired, s, event{key: outcome, value: v, contended: "false"})
	}
}

func (o *observer) released(ctx context.Context, _ rlock.Subject, e rlock.ReleaseEvent) {
	span := o.span(ctx)
	if e.Reason != "" {
		span.AddEvent("lost", trace.WithTimestamp(e.LostAt), trace.WithAttributes(reason.String(string(e.Reason))))
	}
	end(span, e.Err)
}

func (o *observer) ended(s rlock.Subject, e rlock.HoldEvent) {
	ctx := context.Background()
	o.metrics.holdTimes.Record(ctx, e.Held.Seconds(), o.of(&o.holds, s, event{key: "rlock.end", value: string(e.End)}).record...)
	if e.Reason != "" {
		o.count(ctx, o.metrics.lost, s, reason, string(e.Reason))
	}
}

func (o *observer) renewed(s rlock.Subject, e rlock.RenewalEvent) {
	o.count(context.Background(), o.metrics.renewals, s, outcome, string(e.Outcome))
}

func (o *observer) failing(s rlock.Subject, e rlock.FailingEvent) {
	to := "begun"
	if e.Err == nil {
		to = "ended"
	}
	o.count(context.Background(), o.metrics.failing, s, change, to)
}

func (o *observer) undone(s rlock.Subject, e rlock.UndoEvent) {
	o.count(context.Background(), o.metrics.undos, s, outcome, string(e.Outcome))
}

func (o *observer) command(ctx context.Context, e rlock.CommandEvent) {
	of := sent{command: e.Name, server: e.Server, database: e.Database, script: e.Script, leases: e.Leases, undo: e.Undo}
	if e.Err != nil {
		of.failed = "lost" // it was sent, and there was no reply
		if said, ok := e.Err.(redis.Error); ok {
			of.failed, _, _ = strings.Cut(string(said), " ")
			of.refused = true
		}
	}
	opts := o.commands.options(of)
	o.metrics.commands.Record(ctx, e.Duration.Seconds(), opts.record...)
	if o.tracer == nil || !o.renewals && !trace.SpanContextFromContext(ctx).IsValid() {
		return
	}
	if own, ok := ctx.Value(o).(trace.Span); ok {
		ctx = trace.ContextWithSpan(ctx, own)
	}
	name := e.Name
	if e.Script != "" {
		name += " " + e.Script
	}
	if e.Undo {
		name += ", undo"
	}
	_, span := o.tracer.Start(ctx, name, opts.start[0], trace.WithSpanKind(trace.SpanKindClient), trace.WithTimestamp(e.Start))
	if e.Err != nil {
		span.SetStatus(codes.Error, "")
	}
	span.End(trace.WithTimestamp(e.Start.Add(e.Duration)))
}

// ofCommand returns the attributes of a command.
func ofCommand(of sent) []attribute.KeyValue {
	all := []attribute.KeyValue{attribute.String("db.system.name", "redis"), attribute.String("db.operation.name", of.command)}
	if of.script != "" {
		all = append(all, attribute.String("db.stored_procedure.name", of.script))
	}
	if of.database != "" {
		all = append(all, attribute.String("db.namespace", of.database))
	}
	if of.undo {
		all = append(all, attribute.Bool("rlock.undo", true))
	}
	if of.leases > 1 {
		all = append(all, attribute.Int("db.operation.batch.size", of.leases))
	}
	if host, port, err := net.SplitHostPort(of.server); err == nil {
		all = append(all, attribute.String("server.address", host))
		if n, err := strconv.Atoi(port); err == nil {
			all = append(all, attribute.Int("server.port", n))
		}
	}
	if of.refused {
		all = append(all, attribute.String("db.response.status_code", of.failed))
	}
	if of.failed != "" {
		all = append(all, attribute.String("error.type", of.failed))
	}
	return all
}
