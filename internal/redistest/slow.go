package redistest

import "testing"

// Slow ends a test that -short leaves out, for which it gives the reason. A set
// with Sentinels and a cluster are slow to start, so what wants one is left out
// by itself. In a program nothing is left out.
func Slow(t testing.TB, why string) {
	t.Helper()
	if testing.Testing() && testing.Short() && t != Examples {
		t.Skip("left out by -short: ", why)
	}
}
