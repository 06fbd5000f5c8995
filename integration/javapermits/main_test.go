package javapermits

import (
	"flag"
	"testing"

	"go.uber.org/goleak"

	"github.com/rlock-go/redisson/integration/javapeer"
)

var full = flag.Bool("full", false, "all recorded releases, and Sentinels")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// eachRelease runs a test beside each of the releases.
func eachRelease(t *testing.T, test func(t *testing.T, version string)) {
	t.Parallel()
	javapeer.Beside(t, javapeer.PermitVersions(*full), test)
}

func TestBesideJava(t *testing.T) {
	eachRelease(t, func(t *testing.T, version string) { BesideJava(t, version) })
}

// Keys, members, scores, TTLs and messages are the same after each step, whoever takes it.
func TestBothLeaveTheSameOnTheServer(t *testing.T) {
	eachRelease(t, func(t *testing.T, version string) { OnTheWire(t, version) })
}

// eachNumberRelease runs a test beside each of the releases.
func eachNumberRelease(t *testing.T, test func(t *testing.T, version string)) {
	t.Parallel()
	javapeer.Beside(t, javapeer.NumberVersions(*full), test)
}

func TestSemaphoreBesideJava(t *testing.T) {
	eachNumberRelease(t, func(t *testing.T, version string) { SemaphoreBesideJava(t, version) })
}

func TestCountDownLatchBesideJava(t *testing.T) {
	eachNumberRelease(t, func(t *testing.T, version string) { LatchBesideJava(t, version) })
}

// Keys, values, TTLs, messages and answers are the same after each step, whoever takes it.
func TestBothLeaveTheSameOfNumbers(t *testing.T) {
	eachNumberRelease(t, func(t *testing.T, version string) {
		t.Run("semaphore", func(t *testing.T) { SemaphoreOnTheWire(t, version) })
		t.Run("latch", func(t *testing.T) { LatchOnTheWire(t, version) })
	})
}
