package javakinds

import (
	"flag"
	"testing"

	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/integration/kit/testbed"
)

var full = flag.Bool("full", false, "all recorded releases, 200 rounds of a queue, and Sentinels")

func TestMain(m *testing.M) { testbed.Main(m, "3") }

func inFull(t *testing.T) {
	t.Helper()
	if !*full {
		t.Skip("with -full only")
	}
}

// versions are the newest release and one without latches; in full, all.
func versions() []string { return javapeer.ReadWriteVersions(*full) }

// TestBothLeaveTheSameOnTheServer compares keys, fields, queues, times, TTLs, messages and answers after each step.
func TestBothLeaveTheSameOnTheServer(t *testing.T) {
	all := versions()
	if !*full {
		all = append(all, javapeer.Oldest) // whose fair lock computes times differently
	}
	alone(t, all, fair, readWrite, permits)
}

func TestBothLeaveTheSameOfNumbers(t *testing.T) { alone(t, versions(), semaphores, latches) }

// alone has each release, and Go, play the scenes of these kinds.
func alone(t *testing.T, versions []string, kinds ...Kind) {
	t.Parallel()
	javapeer.Beside(t, versions, func(t *testing.T, version string) {
		p := opened(t, version)
		for _, k := range kinds {
			t.Run(k.Name, func(t *testing.T) { k.onTheWire(t, p) })
		}
	})
}

func TestBesideJava(t *testing.T) {
	t.Parallel()
	javapeer.Beside(t, versions(), func(t *testing.T, version string) {
		p := opened(t, version)
		for _, k := range Kinds {
			t.Run(k.Name, func(t *testing.T) { k.besideJava(t, p) })
		}
	})
}
