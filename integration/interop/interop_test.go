package interop

import (
	"testing"

	"github.com/rlock-go/redisson/integration/javapeer"
	"github.com/rlock-go/redisson/integration/redisserver"
)

func TestInterop(t *testing.T) {
	for _, version := range javapeer.Versions {
		t.Run(version, func(t *testing.T) {
			w := NewWorld(t, version, redisserver.Local(t))
			for _, b := range Behaviours {
				t.Run(b.Name, func(t *testing.T) { w.Show(t, b) })
			}
			w.CheckNothingIsLeft(t)
		})
	}
}
