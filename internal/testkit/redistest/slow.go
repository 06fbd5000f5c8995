package redistest

import "testing"

// Slow skips a test under -short, for the reason why. Sets of Sentinels and clusters are
// slow to start and call Slow themselves, so their tests are skipped too. Examples and
// programs other than tests are never skipped.
func Slow(t testing.TB, why string) {
	t.Helper()
	if testing.Testing() && testing.Short() && t != Examples {
		t.Skip("left out by -short: ", why)
	}
}
