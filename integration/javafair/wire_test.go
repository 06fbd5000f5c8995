package javafair

import (
	"testing"

	"github.com/rlock-go/redisson/integration/javapeer"
)

func TestFairLockOnTheWire(t *testing.T) {
	t.Parallel()
	for _, version := range javapeer.Versions(*full) {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			OnTheWire(t, version)
		})
	}
}
