package javafair

import (
	"testing"

	"github.com/rlock-go/redisson/integration/javapeer"
)

func TestFairLockOnTheWire(t *testing.T) {
	t.Parallel()
	javapeer.Beside(t, javapeer.Versions(*full), func(t *testing.T, version string) { OnTheWire(t, version) })
}
