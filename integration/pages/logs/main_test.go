package logs_test

import (
	"testing"

	"github.com/rlock-go/redisson/integration/kit/testbed"
)

func TestMain(m *testing.M) { testbed.Main(m, "8") }
