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
	// Who asks for tests by their names need not wait for the examples' servers.
	serveExamples(!strings.Contains(flag.Lookup("test.run").Value.String(), "Test"))
	leakcheck.Main(redistest.WithExamples{M: m})
}
