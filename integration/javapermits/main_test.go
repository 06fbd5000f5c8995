package javapermits

import (
	"flag"
	"testing"

	"go.uber.org/goleak"

	"github.com/rlock-go/redisson/integration/javapeer"
)

var full = flag.Bool("full", false, "all recorded releases, and Sentinels")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// eachRelease runs a test beside each of the releases.
func eachRelease(t *testing.T, test func(t *testing.T, version string)) {
	t.Parallel()
	for _, version := range javapeer.PermitVersions(*full) {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			test(t, version)
		})
	}
}

// before tells whether a release is older than another. As texts they have that order.
func before(version, other string) bool { return version < other }
