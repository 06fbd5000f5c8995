package interop

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	WorkIfOrdered()
	goleak.VerifyTestMain(m)
}
