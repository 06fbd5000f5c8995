package codec

import (
	"strings"
	"testing"
)

func TestChannelAndLatchNames(t *testing.T) {
	const id = "0123456789abcdef0123456789abcdef"
	for _, tc := range []struct{ key, channel, latch string }{
		{"order", "redisson_lock__channel:{order}", "redisson_unlock_latch:{order}:" + id},
		{"{user}:7", "redisson_lock__channel:{user}:7", "redisson_unlock_latch:{user}:7:" + id},
		{"a{b", "redisson_lock__channel:a{b", "redisson_unlock_latch:a{b:" + id},
		{"a}b", "redisson_lock__channel:{a}b}", "redisson_unlock_latch:{a}b}:" + id},
		{"{}a", "redisson_lock__channel:{}a", "redisson_unlock_latch:{}a:" + id},
		{"a:b c/ü\x00", "redisson_lock__channel:{a:b c/ü\x00}", "redisson_unlock_latch:{a:b c/ü\x00}:" + id},
	} {
		if got := Channel(tc.key); got != tc.channel {
			t.Errorf("Channel(%q) = %q, want %q", tc.key, got, tc.channel)
		}
		if got := Latch(tc.key, id); got != tc.latch {
			t.Errorf("Latch(%q) = %q, want %q", tc.key, got, tc.latch)
		}
	}
}

func TestFairLocksNames(t *testing.T) {
	for key, want := range map[string][3]string{
		"order":    {"redisson_lock_queue:{order}", "redisson_lock_timeout:{order}", "redisson_lock__channel:{order}:o"},
		"{user}:7": {"redisson_lock_queue:{user}:7", "redisson_lock_timeout:{user}:7", "redisson_lock__channel:{user}:7:o"},
		"a{b":      {"redisson_lock_queue:a{b", "redisson_lock_timeout:a{b", "redisson_lock__channel:a{b:o"},
	} {
		if got := [3]string{FairQueue(key), FairTimes(key), FairChannel(key, "o")}; got != want {
			t.Errorf("%q: %q, want %q", key, got, want)
		}
	}
}

func TestTokenKeyHasBracesAsAChannelHas(t *testing.T) {
	for key, want := range map[string]string{
		"order": "redisson_lock_token:{order}", "{user}:7": "redisson_lock_token:{user}:7", "a{b": "redisson_lock_token:a{b", "a}b": "redisson_lock_token:{a}b}",
	} {
		if got := TokenKey(key); got != want {
			t.Errorf("TokenKey(%q) = %q, want %q", key, got, want)
		}
	}
}

func TestLatchIDsAreHexAndNeverEqual(t *testing.T) {
	seen := make(map[string]bool)
	digits := make(map[rune]bool)
	for range 10_000 {
		id := freshID()
		if len(id) != latchIDLen || strings.Trim(id, "0123456789abcdef") != "" {
			t.Fatalf("id %q", id)
		}
		if seen[id] {
			t.Fatalf("%q came twice", id)
		}
		seen[id] = true
		for _, d := range id {
			digits[d] = true
		}
	}
	if len(digits) != 16 {
		t.Errorf("only the digits %v occur", digits)
	}
	// One allocation, or two with the race detector.
	if n := testing.AllocsPerRun(100, func() { FreshLatch("orders") }); n > 2 {
		t.Errorf("%v allocations a latch", n)
	}
}

func freshID() string {
	id := latchID()
	return string(id[:])
}

func FuzzNames(f *testing.F) {
	for _, key := range []string{"", "a", "{a}", "a{b", "a}b", "}b", "{}a", "{a}{b}", "a{}{b}", "{{a}}", "}{", "\xff\x00{", "redisson_lock__channel:{a}"} {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, key string) {
		channel, id := Channel(key), freshID()
		latch := Latch(key, id)
		rest, ok := strings.CutPrefix(channel, "redisson_lock__channel:")
		if !ok || unbrace(t, key, rest) != key {
			t.Errorf("Channel(%q) = %q", key, channel)
		}
		rest, ok = strings.CutPrefix(latch, "redisson_unlock_latch:")
		if !ok {
			t.Errorf("Latch(%q) = %q", key, latch)
		}
		rest, ok = strings.CutSuffix(rest, ":"+id)
		if !ok || unbrace(t, key, rest) != key {
			t.Errorf("Latch(%q) = %q", key, latch)
		}

		// By chance four ids agree in one of 16384³ names at most.
		same := Slot(key) == Slot(channel)
		for range 4 {
			same = same && Slot(key) == Slot(Latch(key, freshID()))
		}
		if SlotSafe(key) != same {
			t.Errorf("SlotSafe(%q) = %v; the slots agree: %v", key, !same, same)
		}
	})
}

// unbrace undoes the brace rule: braces were added exactly if none was there.
func unbrace(t *testing.T, key, braced string) string {
	t.Helper()
	if strings.ContainsRune(key, '{') {
		return braced
	}
	if !strings.HasPrefix(braced, "{") || !strings.HasSuffix(braced, "}") {
		t.Errorf("%q is not in braces", braced)
		return ""
	}
	return braced[1 : len(braced)-1]
}

func TestNamesOfAReadWriteLock(t *testing.T) {
	for key, want := range map[string][2]string{
		"order":    {"redisson_rwlock:{order}", "{order}"},
		"{user}:7": {"redisson_rwlock:{user}:7", "{user}:7"},
		"a{b":      {"redisson_rwlock:a{b", "a{b"},
		"a}b":      {"redisson_rwlock:{a}b}", "{a}b}"},
	} {
		if got := [2]string{ReadWriteChannel(key), ReadHolds(key)}; got != want {
			t.Errorf("%q: %q, want %q", key, got, want)
		}
	}
}

func TestPermitsNames(t *testing.T) {
	for key, want := range map[string][2]string{
		"seats":    {"redisson_sc:{seats}", "{seats}:timeout"},
		"{user}:7": {"redisson_sc:{user}:7", "{user}:7:timeout"},
		"a{b":      {"redisson_sc:a{b", "a{b:timeout"},
	} {
		if got := CountDownChannel(key); got != "redisson_countdownlatch__channel__{"+key+"}" {
			t.Errorf("%q: %q", key, got)
		}
		if got := [2]string{PermitChannel(key), PermitTimes(key)}; got != want {
			t.Errorf("%q: %q, want %q", key, got, want)
		}
	}
}
