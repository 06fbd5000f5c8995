package rlock_test

import (
	"flag"
	"strings"
	"testing"

	"github.com/rlock-go/redisson/internal/leakcheck"
	"github.com/rlock-go/redisson/internal/redistest"
)

func TestMain(m *testing.M) {
	flag.Parse()
	serveExamples()
	// Who asks for tests or benchmarks by their names need not wait for the examples' other servers.
	if run := flag.Lookup("test.run").Value.String(); run != "" && run != "^$" && !strings.Contains(run, "Test") {
		serveAllExamples()
	}
	leakcheck.Main(redistest.WithExamples{M: m})
}
