package rlockotel_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/rlock-go/redisson/internal/testkit/outcomes"
	"github.com/rlock-go/redisson/rlock"
	"github.com/rlock-go/redisson/rlockotel"
)

// series returns a reader's points: the name, unit and attributes of each, and its count or value.
func series(t *testing.T, reader metric.Reader) map[string]float64 {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &all); err != nil {
		t.Fatal(err)
	}
	found := map[string]float64{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			name := m.Name + " (" + m.Unit + ")"
			add := func(set attribute.Set, v float64) { found[name+" "+set.Encoded(attribute.DefaultEncoder())] = v }
			switch data := m.Data.(type) {
			case metricdata.Histogram[float64]:
				for _, p := range data.DataPoints {
					add(p.Attributes, float64(p.Count))
				}
			case metricdata.Sum[int64]:
				for _, p := range data.DataPoints {
					add(p.Attributes, float64(p.Value))
				}
			case metricdata.Gauge[float64]:
				for _, p := range data.DataPoints {
					add(p.Attributes, p.Value)
				}
			default:
				t.Errorf("%s is a %T", m.Name, data)
			}
		}
	}
	return found
}

// some tells whether there is a series of a metric with all these attributes.
func some(all map[string]float64, metric string, attrs ...string) bool {
	for s, v := range all {
		name, set, _ := strings.Cut(s, ") ")
		if v > 0 && name+")" == metric && !slices.ContainsFunc(attrs, func(a string) bool { return !strings.Contains(","+set+",", ","+a+",") }) {
			return true
		}
	}
	return false
}

func TestReadersHaveEachMetricSpanAndOutcome(t *testing.T) {
	reader, spans := metric.NewManualReader(), tracetest.NewInMemoryExporter()
	tracers := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
	observer, err := rlockotel.New(rlockotel.WithMeterProvider(metric.NewMeterProvider(metric.WithReader(reader))), rlockotel.WithTracerProvider(tracers), rlockotel.WithRenewalSpans())
	if err != nil {
		t.Fatal(err)
	}
	member, err := baggage.NewMember("secret", "sesame")
	if err != nil {
		t.Fatal(err)
	}
	bag, err := baggage.New(member)
	if err != nil {
		t.Fatal(err)
	}
	ctx, parent := tracers.Tracer("test").Start(baggage.ContextWithBaggage(t.Context(), bag), "request")
	_, end := outcomes.Make(t, ctx, rlock.WithObserver(observer))
	now := series(t, reader)
	for _, gauge := range []string{"rlock.holds ({hold})", "rlock.lease.remaining.min (s)", "rlock.oldest.hold (s)", "rlock.oldest.wait (s)"} {
		if !some(now, gauge, "rlock.kind=lock") {
			t.Errorf("no %s", gauge)
		}
	}
	if v := now["rlock.waiters ({call}) rlock.kind=lock"]; v != 1 { // while it waits, not afterwards
		t.Errorf("rlock.waiters: %v", v)
	}
	end() // then all events have been counted
	parent.End()
	all := series(t, reader)
	outcomes.Told(t, func(metric, unit, label, word string) bool {
		return some(all, fmt.Sprintf("rlock.%s (%s)", metric, unit), "rlock."+label+"="+word, "rlock.kind=lock")
	})
	if !some(all, "rlock.reconnects ({connection})") {
		t.Error("no reconnect")
	}
	for _, counted := range []string{"rlock.releases.uncertain ({release}) rlock.kind=lock", "rlock.unobserved.events ({event}) "} {
		if _, ok := all[counted]; !ok {
			t.Errorf("no %s", counted)
		}
	}
	const commands = "db.client.operation.duration (s)"
	if !some(all, commands, "db.system.name=redis", "db.namespace=0", "db.operation.name=EVALSHA", "db.stored_procedure.name=lock", "server.address=127.0.0.1") {
		t.Error("no command")
	}
	if !slices.ContainsFunc(slices.Collect(maps.Keys(all)), func(s string) bool { return strings.HasPrefix(s, commands) && strings.Contains(s, ",server.port=") }) {
		t.Error("no command has server.port")
	}
	for _, attr := range []string{"error.type=lost", "error.type=WRONGTYPE", "db.response.status_code=WRONGTYPE", "db.operation.batch.size=3", "rlock.undo=true"} {
		if !some(all, commands, attr) {
			t.Errorf("no command has %s", attr)
		}
	}
	for s := range all {
		if strings.Contains(s, "rlock.name=") {
			t.Errorf("a metric by the lock's name: %s", s)
		}
	}
	if t.Failed() {
		for s, v := range all {
			t.Log(s, v)
		}
	}
	checkSpans(t, spans.GetSpans(), parent.SpanContext())
}

// The ages of what is held and waited for have the name too.
func TestAgesHaveTheName(t *testing.T) {
	reader := metric.NewManualReader()
	observer, err := rlockotel.New(rlockotel.WithMeterProvider(metric.NewMeterProvider(metric.WithReader(reader))),
		rlockotel.WithTracerProvider(noop.NewTracerProvider()), rlockotel.WithName(func(name string) string { return strings.TrimRight(name, "12") }))
	if err != nil {
		t.Fatal(err)
	}
	client, err := rlock.Open(t.Context(), os.Getenv("REDIS_URL"), rlock.WithObserver(observer))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for _, name := range []string{"age1", "age2"} {
		hold, err := client.NewLock(name).Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer hold.Unlock(context.Background())
	}
	ctx, cancel := context.WithCancel(t.Context())
	waited := make(chan struct{})
	go func() { defer close(waited); _, _ = client.NewLock("age1").Lock(ctx) }()
	defer func() { cancel(); <-waited }()
	outcomes.Waits(t, client)
	all := series(t, reader)
	for _, metric := range []string{"rlock.oldest.hold (s)", "rlock.oldest.wait (s)"} {
		if all[metric+" rlock.kind=lock,rlock.name=age"] <= 0 {
			t.Errorf("no %s in %v", metric, all)
		}
	}
}

// A lock's name may be any bytes, an attribute may not: an exporter would drop the whole batch.
func TestNameIsText(t *testing.T) {
	reader := metric.NewManualReader()
	o, err := rlockotel.New(rlockotel.WithMeterProvider(metric.NewMeterProvider(metric.WithReader(reader))), rlockotel.WithName(func(name string) string { return name }))
	if err != nil {
		t.Fatal(err)
	}
	o.Ended(rlock.Subject{Name: "a\xff", Kind: "lock"}, rlock.HoldEvent{End: "released", Held: time.Second})
	if !some(series(t, reader), "rlock.hold.duration (s)", "rlock.name=a\uFFFD") {
		t.Errorf("%v", series(t, reader))
	}
}

func checkSpans(t *testing.T, all tracetest.SpanStubs, parent trace.SpanContext) {
	t.Helper()
	seen, calls := map[string]int{}, map[trace.SpanID]tracetest.SpanStub{}
	for _, s := range all {
		if strings.HasPrefix(s.Name, "rlock.") {
			calls[s.SpanContext.SpanID()] = s
		}
	}
	for _, s := range all {
		if text := fmt.Sprintf("%+v", s.Attributes); strings.Contains(text, "sesame") || strings.Contains(text, "db.query.text") {
			t.Errorf("%s has %s", s.Name, text)
		}
		switch {
		case s.Name == "request":
			continue
		case strings.HasPrefix(s.Name, "rlock."):
			if s.Parent.SpanID() != parent.SpanID() || s.SpanKind != trace.SpanKindInternal {
				t.Errorf("%s is %v below %v", s.Name, s.SpanKind, s.Parent.SpanID())
			}
			if !slices.ContainsFunc(s.Attributes, func(a attribute.KeyValue) bool { return a.Key == "rlock.name" && a.Value.AsString() != "" }) {
				t.Errorf("%s does not name its lock", s.Name)
			}
		default:
			call, ok := calls[s.Parent.SpanID()]
			alone := !s.Parent.IsValid() // a command without a call
			if alone != (strings.HasSuffix(s.Name, ", undo") || !strings.Contains(s.Name, "lock")) || !ok && !alone || s.SpanKind != trace.SpanKindClient {
				t.Errorf("%s is %v below no call", s.Name, s.SpanKind)
			}
			if ok && s.StartTime.Before(call.StartTime.Add(-time.Millisecond)) {
				t.Errorf("%s begins %v before its call", s.Name, call.StartTime.Sub(s.StartTime))
			}
		}
		if by := s.InstrumentationScope; by.Version == "" || !strings.HasPrefix(by.SchemaURL, "https://opentelemetry.io/schemas/") {
			t.Errorf("%s is of %+v", s.Name, by)
		}
		seen[s.Name]++
		var waits time.Time
		for _, e := range s.Events {
			// One call polls, then waits for a lease that ends in 600 ms. Events come when a call ends.
			const early = 300 * time.Millisecond
			if e.Name == "wait" {
				waits = e.Time
			} else if by := e.Attributes[0].Value.AsString(); e.Name == "woken" && s.EndTime.Sub(waits) > early && (by == "expiry") == (e.Time.Sub(waits) > early) {
				seen["woken in time by "+by]++
			}
			seen[s.Name+" "+e.Name]++
			for _, a := range e.Attributes {
				seen[fmt.Sprintf("%s %s %s=%s", s.Name, e.Name, a.Key, a.Value.String())]++
			}
		}
	}
	for _, what := range []string{
		"woken in time by look", "woken in time by expiry", "rlock.acquire", "rlock.release", "EVALSHA lock", "EVALSHA unlock_to", "EVALSHA renew", "rlock.acquire wait", "rlock.acquire woken rlock.source=message", "rlock.acquire woken rlock.source=expiry",
		"rlock.acquire woken rlock.source=handoff", "rlock.release lost rlock.reason=taken", "rlock.release lost rlock.reason=expired",
		"rlock.release lost rlock.reason=unreachable",
	} {
		if seen[what] == 0 {
			t.Errorf("no %s", what)
		}
	}
	if seen["EVALSHA unlock, undo"]+seen["EVALSHA unlock_to, undo"] == 0 {
		t.Error("no undo")
	}
	if t.Failed() {
		t.Log(seen)
	}
}

// An endless number of names makes a limited number of series, and no acquire is lost.
func TestAcquiresOfManyNamesAreAllCounted(t *testing.T) {
	reader := metric.NewManualReader()
	observer, err := rlockotel.New(rlockotel.WithMeterProvider(metric.NewMeterProvider(metric.WithReader(reader))),
		rlockotel.WithTracerProvider(noop.NewTracerProvider()), rlockotel.WithName(func(name string) string { return name }))
	if err != nil {
		t.Fatal(err)
	}
	const many = 5000
	for range 2 {
		for i := range many {
			observer.Acquired(t.Context(), rlock.Subject{Name: strconv.Itoa(i), Kind: "lock"}, rlock.AcquireEvent{Outcome: "locked"})
		}
	}
	var all metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	for _, m := range all.ScopeMetrics[0].Metrics {
		if m.Name != "rlock.acquires" {
			continue
		}
		points, sum := m.Data.(metricdata.Sum[int64]).DataPoints, int64(0)
		for _, p := range points {
			sum += p.Value
		}
		if sum != 2*many || len(points) >= many {
			t.Errorf("%d acquires in %d series", sum, len(points))
		}
		return
	}
	t.Error("no acquires")
}

// If the provider makes no spans, the observer leaves the caller's span alone.
func TestSpanOfTheCallerIsNotEnded(t *testing.T) {
	observer, err := rlockotel.New(rlockotel.WithTracerProvider(noop.NewTracerProvider()))
	if err != nil {
		t.Fatal(err)
	}
	client, err := rlock.Open(t.Context(), os.Getenv("REDIS_URL"), rlock.WithObserver(observer))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, span := sdktrace.NewTracerProvider().Tracer("test").Start(t.Context(), "caller")
	hold, err := client.NewLock("caller").Lock(ctx)
	if err == nil {
		err = hold.Unlock(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := span.(sdktrace.ReadOnlySpan); !got.EndTime().IsZero() || len(got.Events()) > 0 || len(got.Attributes()) > 0 {
		t.Errorf("ended at %v, with %v and %v", got.EndTime(), got.Events(), got.Attributes())
	}
}

// Each observer ends its own span, and has the commands below it.
func TestTwoObserversHaveTheirOwnSpans(t *testing.T) {
	var exporters [2]*tracetest.InMemoryExporter
	var options []rlock.Option
	for i := range exporters {
		exporters[i] = tracetest.NewInMemoryExporter()
		observer, err := rlockotel.New(rlockotel.WithTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporters[i]))))
		if err != nil {
			t.Fatal(err)
		}
		options = append(options, rlock.WithObserver(observer))
	}
	client, err := rlock.Open(t.Context(), os.Getenv("REDIS_URL"), options...)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	hold, err := client.NewLock("two").Lock(t.Context())
	if err == nil {
		err = hold.Unlock(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	for i, exporter := range exporters {
		calls, below := map[trace.SpanID]string{}, map[string]int{}
		for _, s := range exporter.GetSpans() {
			calls[s.SpanContext.SpanID()] = s.Name
		}
		for _, s := range exporter.GetSpans() {
			below[calls[s.Parent.SpanID()]+"/"+s.Name]++
		}
		for _, want := range []string{"/rlock.acquire", "rlock.acquire/EVALSHA lock", "/rlock.release", "rlock.release/EVALSHA unlock_to"} {
			if below[want] != 1 {
				t.Errorf("observer %d has %v, not one %s", i, below, want)
			}
		}
	}
}

func TestNilOptionsAreRefused(t *testing.T) {
	for what, option := range map[string]rlockotel.Option{
		"an option": nil, "a meter provider": rlockotel.WithMeterProvider(nil), "a tracer provider": rlockotel.WithTracerProvider(nil),
	} {
		if _, err := rlockotel.New(option); err == nil {
			t.Errorf("New took %s that is nil", what)
		}
	}
}
