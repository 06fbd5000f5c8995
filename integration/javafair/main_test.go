package javafair

import (
	"flag"
	"testing"

	"go.uber.org/goleak"
)

var full = flag.Bool("full", false, "more releases, and 200 rounds of each")

// inFull leaves a test to make test-all.
func inFull(t *testing.T) {
	t.Helper()
	if !*full {
		t.Skip("with -full only")
	}
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
