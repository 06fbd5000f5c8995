package javafair

import (
	"flag"
	"testing"

	"go.uber.org/goleak"
)

var full = flag.Bool("full", false, "more releases, and 200 rounds of each")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
