package monitoring

import (
	"encoding/json"
	"flag"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	otelprom "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/testkit/outcomes"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
	"github.com/rlock-go/redisson/rlock"
	"github.com/rlock-go/redisson/rlockotel"
	"github.com/rlock-go/redisson/rlockprom"
)

var write = flag.Bool("write", false, "draw docs/monitoring/dashboard.svg")

const pages = "../../../docs/monitoring/"

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(pages + name)
	testbed.Must(t, err)
	return string(text)
}

func TestPromtoolAcceptsTheRules(t *testing.T) {
	t.Parallel()
	installed(t, "promtool")
	for _, args := range [][]string{{"check", "rules", pages + "rules.yml"}, {"test", "rules", pages + "rules_test.yml"}} {
		if out, err := exec.Command("promtool", args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// Each alert leads to a section of a page that explains it.
func TestEveryAlertHasARunbook(t *testing.T) {
	t.Parallel()
	page := read(t, "../operations.md")
	_, section, found := strings.Cut(page, "\n### Alerts\n")
	if !found {
		t.Fatal("the section has gone")
	}
	alerts := strings.Split(read(t, "rules.yml"), "- alert: ")[1:]
	for _, rule := range alerts {
		name, _, _ := strings.Cut(rule, "\n")
		if !strings.Contains(rule, "runbook_url: https://github.com/rlock-go/redisson/blob/main/docs/operations.md#alerts\n") {
			t.Errorf("%s has no runbook", name)
		}
		if !strings.Contains(section, "\n| `"+name+"` |") {
			t.Errorf("%s is not explained", name)
		}
	}
	if rows := strings.Count(section, "\n| `Rlock"); rows != len(alerts) || rows < 7 {
		t.Errorf("%d alerts, %d are explained", len(alerts), rows)
	}
}

// served serves a program's metrics and returns its address and observer.
func served(t *testing.T) (program, rlock.Observer) {
	t.Helper()
	metrics := rlockprom.New(rlockprom.WithName(named))
	return serve(t, metrics, ""), metrics.Observer()
}

// traced is served for a program that uses OpenTelemetry.
func traced(t *testing.T) (program, rlock.Observer) {
	t.Helper()
	registry := prometheus.NewRegistry()
	exporter, err := otelprom.New(otelprom.WithRegisterer(registry))
	testbed.Must(t, err)
	o, err := rlockotel.New(rlockotel.WithMeterProvider(metric.NewMeterProvider(metric.WithReader(exporter))),
		rlockotel.WithTracerProvider(noop.NewTracerProvider()), rlockotel.WithName(named))
	testbed.Must(t, err)
	return serve(t, registry, read(t, "relabel.yml")), o
}

func serve(t *testing.T, of prometheus.Collector, config string) program {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(of)
	s := httptest.NewServer(promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	t.Cleanup(s.Close)
	return program{strings.TrimPrefix(s.URL, "http://"), config}
}

// named makes "mended" a leader's lock, which outcomes.Make takes and releases.
func named(name string) string {
	if name == "mended" {
		return "leader"
	}
	return "other"
}

// helps returns the texts that a program has for its metrics, by the metric.
func helps(t *testing.T, of program) map[string]string {
	t.Helper()
	resp, err := http.Get("http://" + of.addr)
	testbed.Must(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	testbed.Must(t, err)
	all := map[string]string{}
	for _, line := range help.FindAllStringSubmatch(string(text), -1) {
		all[line[1]] = line[2]
	}
	return all
}

// works acquires and releases until the test ends, and loses nothing.
func works(t *testing.T, o rlock.Observer) {
	t.Helper()
	c := testbed.Open(t, redistest.Start(t).URL(), rlock.WithObserver(o), rlock.WithWatchdogTimeout(10*time.Second))
	done := make(chan struct{})
	for range 2 { // they wait for each other
		go func() {
			defer func() { done <- struct{}{} }()
			for t.Context().Err() == nil {
				h, err := c.NewLock("work").Lock(t.Context())
				if err != nil {
					continue
				}
				time.Sleep(20 * time.Millisecond)
				_ = h.Unlock(t.Context())
			}
		}()
	}
	t.Cleanup(func() { <-done; <-done })
}

type dashboard struct {
	Panels []struct {
		Title       string
		Description string
		FieldConfig struct{ Defaults struct{ Unit string } }
		Targets     []struct{ Expr, LegendFormat string }
	}
}

var (
	patience    = regexp.MustCompile(`(?m)^ +for: .*\n`)
	placeholder = regexp.MustCompile(`\{\{(\w+)\}\}`)
	help        = regexp.MustCompile(`(?m)^# HELP (rlock_\w+) (.*)$`)
)

// chosen fills in a query's variables. A busy machine may not be scraped for some seconds.
func chosen(expr, job string) string {
	return strings.NewReplacer("$__rate_interval", "30s", "$job", job, "$instance", ".*").Replace(expr)
}

func TestPrometheusAlertsOnLossesAndAnswersTheDashboard(t *testing.T) {
	t.Parallel()
	loses, losing := served(t)
	keeps, keeping := served(t)
	traces, tracing := traced(t) // of the same client as losing
	// promtool tests how long a rule waits.
	p := start(t, patience.ReplaceAllString(read(t, "rules.yml"), ""), map[string]program{"loses": loses, "keeps": keeps, "traces": traces})
	began := time.Now()
	works(t, keeping)
	testbed.BecomesWithin(t, time.Minute, "all are scraped", func() bool { return len(p.now("up == 1")) == 3 })
	outcomes.Make(t, t.Context(), rlock.WithObserver(losing), rlock.WithObserver(tracing))
	for _, job := range []string{"loses", "traces"} {
		for _, alert := range []string{"RlockLeaseLost", "RlockRenewalsFail", "RlockOutcomeUncertain", "RlockAcquiresFail", "RlockLeaderMissing"} {
			testbed.BecomesWithin(t, time.Minute, alert+" fires for "+job, func() bool {
				return len(p.now(`ALERTS{alertstate="firing", job="`+job+`", alertname="`+alert+`"}`)) > 0
			})
		}
		testbed.BecomesWithin(t, time.Minute, "both sorts of lost leases", func() bool { // taken and unreachable
			return len(p.now(`ALERTS{alertname="RlockLeaseLost", job="`+job+`"}`)) == 2
		})
	}
	testbed.BecomesWithin(t, time.Minute, "the other one has worked", func() bool {
		return len(p.now(`rlock_acquires_total{job="keeps", outcome="acquired", contended="true"} > 20`)) > 0
	})
	if wrong := p.now(`ALERTS{job="keeps"}`); len(wrong) > 0 {
		t.Errorf("a program that loses nothing: %v", wrong)
	}

	var d dashboard
	if err := json.Unmarshal([]byte(read(t, "dashboard.json")), &d); err != nil || len(d.Panels) < 10 {
		t.Fatal(err, len(d.Panels))
	}
	// Both modules have the same metrics, in the same words.
	var a, b map[string]string
	if !testbed.Within(time.Minute, func() bool {
		a, b = helps(t, loses), helps(t, traces)
		delete(a, "rlock_command_duration_seconds") // OpenTelemetry has a name and words for it
		return len(a) >= 14 && maps.Equal(a, b)
	}) {
		t.Errorf("metrics of Prometheus and of OpenTelemetry: %v\n%v", a, b)
	}
	// The last events may not have been scraped twice yet, which a rate needs.
	same := func(what, expr string, least int) {
		t.Helper()
		var a, b []string
		if !testbed.Within(time.Minute, func() bool {
			a, b = p.labels(chosen(expr, "loses"), began), p.labels(chosen(expr, "traces"), began)
			return len(a) >= least && slices.Equal(a, b)
		}) {
			t.Errorf("%s: of the same program, Prometheus has %q and OpenTelemetry %q", what, a, b)
		}
	}
	const commands = `sum by (command, script, outcome) (rlock_command_duration_seconds_count{job="$job"})`
	same("commands", commands, 5)
	var charts []chart
	for _, panel := range d.Panels {
		if panel.Description == "" {
			t.Errorf("%s has no description", panel.Title)
		}
		c := chart{title: panel.Title, unit: map[string]string{"s": "s", "ops": "/s"}[panel.FieldConfig.Defaults.Unit]}
		for _, target := range panel.Targets {
			same(panel.Title, target.Expr, 0)
			answer := p.between(chosen(target.Expr, "loses|keeps"), began)
			points := 0
			for _, s := range answer {
				l := line{name: placeholder.ReplaceAllStringFunc(target.LegendFormat, func(label string) string { return s.Metric[strings.Trim(label, "{}")] })}
				l.at, l.value = s.points()
				points += len(l.at)
				c.lines = append(c.lines, l)
			}
			if points == 0 {
				t.Errorf("%s: %s has no answer", panel.Title, target.Expr)
			}
		}
		charts = append(charts, c)
	}
	picture := draw(charts)
	if lines := strings.Count(picture, "<polyline"); lines < 20 {
		t.Errorf("the picture has %d lines", lines)
	}
	if *write {
		testbed.Must(t, os.WriteFile(pages+"dashboard.svg", []byte(picture), 0o644))
	}
}
