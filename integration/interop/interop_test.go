package interop

import (
	"flag"
	"testing"
	"time"

	"github.com/rlock-go/redisson/integration/javapeer"
	"github.com/rlock-go/redisson/integration/redisserver"
)

var full = flag.Bool("full", false, "show the behaviours with all recorded releases, and count for longer")

func TestInterop(t *testing.T) {
	for _, version := range javapeer.Versions(*full) {
		t.Run(version, func(t *testing.T) {
			w := NewWorld(t, version, redisserver.Local(t))
			if *full {
				w.Counting = 30 * time.Second
			}
			for _, b := range Behaviours {
				t.Run(b.Name, func(t *testing.T) { w.Show(t, b) })
			}
			w.CheckNothingIsLeft(t)
		})
	}
}
