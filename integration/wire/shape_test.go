package wire

import "testing"

// A renewal of two or three locks has as many KEYS and ARGV as an unlock.
func TestRenewalOfAFewLocksIsNoUnlock(t *testing.T) {
	const latch = "redisson_unlock_latch:{a}:00000000000000000000000000000001"
	for _, c := range []struct {
		words []string
		role  string
	}{
		{[]string{"EVALSHA", "sha", "2", "a", "b", "3000", "o", "o"}, "renew"},
		{[]string{"EVALSHA", "sha", "3", "a", "b", "c", "3000", "o", "o", "o"}, "renew"},
		{[]string{"EVALSHA", "sha", "3", "a", channel("a"), latch, "0", "3000", "o", "PUBLISH", "13000"}, "unlock"},
		{[]string{"EVALSHA", "sha", "3", "a", channel("a"), latch, "0", "3000", "o", "13000"}, "unlock"},
		{[]string{"EVALSHA", "sha", "2", "a", channel("a"), "0", "3000", "o"}, "unlock"},
		{[]string{"EVALSHA", "sha", "3", "a", channel("a"), latch, "0", "3000", "o", "SPUBLISH", "13000", "PUBLISH"}, "unlock"},
		{[]string{"EVALSHA", "sha", "2", "a", channel("a"), "PUBLISH", "0"}, "force"},
		{[]string{"EVALSHA", "sha", "2", "a", channel("a"), "0", "SPUBLISH", "PUBLISH"}, "force"},
	} {
		if role := command(c.words).shape(); role != c.role {
			t.Errorf("%q is %q, want %q", c.words, role, c.role)
		}
	}
}
