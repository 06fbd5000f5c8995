package rlock_test

import (
	"flag"
	"strings"
	"testing"

	"github.com/rlock-go/redisson/internal/testkit/leakcheck"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

func TestMain(m *testing.M) {
	flag.Parse()
	serveExamples()
	// A run that names tests or benchmarks does not have to wait for the examples' other servers.
	if run := flag.Lookup("test.run").Value.String(); run != "" && run != "^$" && !strings.Contains(run, "Test") {
		serveAllExamples()
	}
	leakcheck.Main(redistest.WithExamples{M: m})
}
