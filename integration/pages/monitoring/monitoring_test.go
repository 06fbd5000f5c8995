package monitoring

import (
	"encoding/json"
	"flag"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/outcomes"
	"github.com/rlock-go/redisson/internal/redistest"
	"github.com/rlock-go/redisson/rlock"
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

// served serves a program's metrics and returns its address and observer.
func served(t *testing.T) (addr string, o rlock.Observer) {
	t.Helper()
	registry, metrics := prometheus.NewRegistry(), rlockprom.New()
	registry.MustRegister(metrics)
	s := httptest.NewServer(promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://"), metrics.Observer()
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
		FieldConfig struct{ Defaults struct{ Unit string } }
		Targets     []struct{ Expr, LegendFormat string }
	}
}

var (
	patience    = regexp.MustCompile(`(?m)^ +for: .*\n`)
	placeholder = regexp.MustCompile(`\{\{(\w+)\}\}`)
	chosen      = strings.NewReplacer("$__rate_interval", "3s", "$job", ".*", "$instance", ".*")
)

func TestPrometheusAlertsOnLossesAndAnswersTheDashboard(t *testing.T) {
	t.Parallel()
	loses, losing := served(t)
	keeps, keeping := served(t)
	// promtool tests how long a rule waits.
	p := start(t, patience.ReplaceAllString(read(t, "rules.yml"), ""), map[string]string{"loses": loses, "keeps": keeps})
	began := time.Now()
	works(t, keeping)
	testbed.BecomesWithin(t, time.Minute, "both are scraped", func() bool { return len(p.now("up == 1")) == 2 })
	outcomes.Make(t, t.Context(), rlock.WithObserver(losing))
	for _, alert := range []string{"RlockLeaseLost", "RlockRenewalsFail", "RlockOutcomeUncertain", "RlockAcquiresFail"} {
		testbed.BecomesWithin(t, time.Minute, alert+" fires", func() bool {
			return len(p.now(`ALERTS{alertstate="firing", job="loses", alertname="`+alert+`"}`)) > 0
		})
	}
	testbed.BecomesWithin(t, time.Minute, "both sorts of lost leases", func() bool { // taken and unreachable
		return len(p.now(`ALERTS{alertname="RlockLeaseLost", job="loses"}`)) == 2
	})
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
	var charts []chart
	for _, panel := range d.Panels {
		c := chart{title: panel.Title, unit: map[string]string{"s": "s", "ops": "/s"}[panel.FieldConfig.Defaults.Unit]}
		for _, target := range panel.Targets {
			answer := p.between(chosen.Replace(target.Expr), began)
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
