package monitoring

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/kit/testbed"
	"github.com/rlock-go/redisson/internal/testkit/deathsig"
)

// server is a running Prometheus.
type server struct {
	t   *testing.T
	url string
}

// installed fails without Debian's package prometheus if CI is "true", and skips elsewhere.
func installed(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err == nil {
		return
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is not installed; integration/setup.sh installs it", program)
	}
	t.Skipf("%s is not installed; integration/setup.sh installs it", program)
}

// program is what Prometheus scrapes.
type program struct {
	addr   string
	config string // further settings of its job
}

// start starts a Prometheus that scrapes programs, by their jobs' names, five times a second.
func start(t *testing.T, rules string, programs map[string]program) *server {
	t.Helper()
	installed(t, "prometheus")
	dir := t.TempDir()
	config := "global: {scrape_interval: 200ms, evaluation_interval: 200ms}\nrule_files: [rules.yml]\nscrape_configs:\n"
	for job, of := range programs {
		config += fmt.Sprintf("- job_name: %s\n  static_configs: [{targets: ['%s']}]\n", job, of.addr)
		for line := range strings.Lines(of.config) {
			config += "  " + line
		}
	}
	for name, text := range map[string]string{"prometheus.yml": config, "rules.yml": rules} {
		testbed.Must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	testbed.Must(t, err)
	addr := free.Addr().String()
	free.Close()
	log, err := os.Create(filepath.Join(dir, "log"))
	testbed.Must(t, err)
	defer log.Close()
	cmd := exec.Command("prometheus", "--config.file", filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path", filepath.Join(dir, "data"), "--web.listen-address", addr)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = deathsig.Attr(syscall.SIGKILL)
	testbed.Must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			text, _ := os.ReadFile(log.Name())
			t.Logf("%s", text)
		}
	})
	s := &server{t: t, url: "http://" + addr}
	testbed.BecomesWithin(t, time.Minute, "Prometheus answers", func() bool {
		resp, err := http.Get(s.url + "/-/ready")
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == http.StatusOK
	})
	return s
}

// series is one series of an answer.
type series struct {
	Metric map[string]string
	Values [][2]any // seconds, and the value as a text
}

// points returns the points that are numbers, with their times in seconds.
func (s *series) points() (at, value []float64) {
	for _, p := range s.Values {
		v, err := strconv.ParseFloat(p[1].(string), 64)
		if err == nil && v == v {
			at, value = append(at, p[0].(float64)), append(value, v)
		}
	}
	return at, value
}

// get sends a query and returns the answer.
func (s *server) get(path string, query url.Values) []series {
	s.t.Helper()
	resp, err := http.Get(s.url + path + "?" + query.Encode())
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	var answer struct {
		Status, Error string
		Data          struct{ Result []series }
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || answer.Status != "success" {
		s.t.Fatalf("%s: %v %s", query.Get("query"), err, answer.Error)
	}
	return answer.Data.Result
}

// now returns the present value of an expression.
func (s *server) now(query string) []series {
	s.t.Helper()
	return s.get("/api/v1/query", url.Values{"query": {query}})
}

// between returns the values of an expression since from.
func (s *server) between(query string, from time.Time) []series {
	s.t.Helper()
	seconds := func(at time.Time) string { return strconv.FormatFloat(float64(at.UnixMilli())/1000, 'f', 3, 64) }
	return s.get("/api/v1/query_range", url.Values{"query": {query}, "start": {seconds(from)}, "end": {seconds(time.Now())}, "step": {"0.2"}})
}

// labels returns the labels of an expression's series since from that had a value other than 0, in order.
func (s *server) labels(query string, from time.Time) (all []string) {
	s.t.Helper()
	for _, one := range s.between(query, from) {
		if _, values := one.points(); slices.ContainsFunc(values, func(v float64) bool { return v != 0 }) {
			all = append(all, fmt.Sprint(one.Metric))
		}
	}
	slices.Sort(all)
	return all
}
