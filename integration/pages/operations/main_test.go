package operations_test

import (
	"testing"

	"github.com/rlock-go/redisson/integration/kit/tool"
)

// program is the tool.
var program string

func TestMain(m *testing.M) { tool.Main(m, &program, "16") }
