package behaviour_test

import (
	"os"
	"testing"

	"github.com/rlock-go/redisson/integration/testbed"
)

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		os.Exit(holdUntilKilled())
	}
	testbed.Main(m, "24")
}
