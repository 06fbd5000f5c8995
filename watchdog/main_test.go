package watchdog

import (
	"testing"

	"github.com/rlock-go/redisson/internal/testkit/leakcheck"
	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

func TestMain(m *testing.M) { leakcheck.Main(redistest.WithExamples{M: m}) }
