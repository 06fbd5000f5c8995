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
	showAll(t, javapeer.Versions(*full), Behaviours, briefly)
}

func TestSpinInterop(t *testing.T) {
	showAll(t, javapeer.SpinVersions(*full), SpinBehaviours, veryBriefly)
}

func TestFairInterop(t *testing.T) {
	showAll(t, javapeer.FairVersions(*full), FairBehaviours, veryBriefly)
}

func TestWriteInterop(t *testing.T) {
	versions := javapeer.ReadWriteVersions(*full)
	if !*full {
		versions = versions[:1] // package javareadwrite has the other
	}
	showAll(t, versions, WriteBehaviours, veryBriefly)
}

func TestFencedInterop(t *testing.T) {
	showAll(t, javapeer.FencedVersions(*full), FencedBehaviours, veryBriefly)
}

// The other recorded releases have none.
func TestNonReentrantInterop(t *testing.T) {
	showAll(t, []string{javapeer.Newest}, NonReentrantBehaviours, veryBriefly)
}

func TestMultiInterop(t *testing.T) {
	versions := javapeer.Versions(*full)
	if !*full {
		versions = versions[:1]
	}
	showAll(t, versions, MultiBehaviours, veryBriefly)
}

func showAll(t *testing.T, versions []string, behaviours []Behaviour, counting time.Duration) {
	javapeer.Beside(t, versions, func(t *testing.T, version string) {
		w := NewWorld(t, version, redisserver.Local(t))
		w.Counting = counting
		if *full {
			w.Counting = 30 * time.Second
		}
		for _, b := range behaviours {
			t.Run(b.Name, func(t *testing.T) { w.Show(t, b) })
		}
		w.CheckNothingIsLeft(t)
	})
}
