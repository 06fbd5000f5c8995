package redistest

import (
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/stalls"
)

// patience is for what comes at once if all is well. It ends only a test that would hang: a busy machine has been seen to
// leave one process alone for half a minute.
const patience = time.Minute

// Becomes returns when is holds. What the test says of a state that never comes is what, and how it is instead.
func Becomes(t testing.TB, what string, is func() bool, instead ...func() string) {
	t.Helper()
	for began := time.Now(); !is(); time.Sleep(pollEvery) {
		if time.Since(began) < patience+stalls.Since(began) {
			continue
		}
		for _, text := range instead {
			what += "; " + text()
		}
		t.Fatalf("it never came about: %s", what)
	}
}
