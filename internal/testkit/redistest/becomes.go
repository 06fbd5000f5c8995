package redistest

import (
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/testkit/stalls"
)

// Becomes returns when is returns true, and fails the test after 20 s, not counting the machine's stalls. That is less
// than a lease of 30 s: what only the end of a lease brings about must not pass for the library's work. The failure says
// what never came about, and what is the case instead.
func Becomes(t testing.TB, what string, is func() bool, instead ...func() string) {
	t.Helper()
	await(t, 20*time.Second, what, is, instead...)
}

// Settles is Becomes, for up to a minute, for what servers do among themselves: on a busy machine that has taken half a
// minute.
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
