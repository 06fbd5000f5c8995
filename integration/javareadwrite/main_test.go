package javareadwrite

import (
	"flag"
	"testing"

	"go.uber.org/goleak"

	"github.com/rlock-go/redisson/integration/javapeer"
)

var full = flag.Bool("full", false, "all recorded releases, and longer")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// eachRelease runs a test beside each of the releases.
func eachRelease(t *testing.T, test func(t *testing.T, version string)) {
	t.Parallel()
	javapeer.Beside(t, javapeer.ReadWriteVersions(*full), test)
}
