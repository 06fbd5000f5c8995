package redistest

import (
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/stalls"
)

// Becomes returns when is holds. That comes at once if all is well, and a test waits for less than a lease of 30 s: a
// state that only the lease's end makes true must not pass for the library's work. The test says what never came, and how
// it is instead.
func Becomes(t testing.TB, what string, is func() bool, instead ...func() string) {
	t.Helper()
	await(t, 20*time.Second, what, is, instead...)
}

// Settles is Becomes for what servers do among themselves, for which a busy machine has taken half a minute.
func Settles(t testing.TB, what string, is func() bool) {
	t.Helper()
	await(t, time.Minute, what, is)
}

func await(t testing.TB, patience time.Duration, what string, is func() bool, instead ...func() string) {
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
