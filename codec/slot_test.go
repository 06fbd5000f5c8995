package codec

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/testkit/redistest"
)

var slotKeys = []string{
	"", "a", "123456789", "{user1000}.following", "{user1000}.followers", "foo{}{bar}", "foo{{bar}}zap", "foo{bar}{zap}",
	"a{b", "a}b", "}b", "{}a", "{", "}", "{}", "}{", "{a", "a}", "}{a}", "{a}{", "\x00", "\xff\xfe{\xfd}", "ключ{ü}",
}

func TestKnownSlots(t *testing.T) {
	for key, want := range map[string]uint16{
		"":          0,
		"123456789": 0x31C3, // the check value of CRC-16/XMODEM
		"{a}x":      Slot("a"),
		"x{a}{b}":   Slot("a"),
	} {
		if got := Slot(key); got != want {
			t.Errorf("Slot(%q) = %d, want %d", key, got, want)
		}
	}
}

func TestSlotsAreTheServers(t *testing.T) {
	conn := redistest.Start(t, "--cluster-enabled", "yes").Dial(t)
	keys := append([]string(nil), slotKeys...)
	for _, key := range slotKeys {
		keys = append(keys, Channel(key), FreshLatch(key))
	}
	const alphabet = "ab{}:\x00\xff"
	for range 2000 {
		key := make([]byte, rand.IntN(12))
		for i := range key {
			key[i] = alphabet[rand.IntN(len(alphabet))]
		}
		keys = append(keys, string(key), fmt.Sprint(rand.Uint64()))
	}
	for _, key := range keys {
		if err := conn.Send("CLUSTER", "KEYSLOT", key); err != nil {
			t.Fatal(err)
		}
	}
	got, err := redis.Ints(conn.Do(""))
	if err != nil {
		t.Fatal(err)
	}
	for i, key := range keys {
		if int(Slot(key)) != got[i] {
			t.Errorf("Slot(%q) = %d, the server says %d", key, Slot(key), got[i])
		}
	}
}

func TestNamesThatAreUnsafeInACluster(t *testing.T) {
	for key, want := range map[string]bool{
		"a": true, "order:17": true, "{a}": true, "{a}b": true, "a{b}": true, "a{b}c{d": true, "{a}{}": true, "ü": true,
		"a{b": false, "a}b": false, "}b": false, "{}a": false, "{": false, "}": false, "{}": false, "a{}{b}": false, "": false,
		"a}{b}": true, "{{a}}": true,
	} {
		if got := SlotSafe(key); got != want {
			t.Errorf("SlotSafe(%q) = %v", key, got)
		}
	}
}

// CRC-16 is linear, so only the length of an untagged name decides whether its channel has the
// same slot, and 2,480 is the shortest such length. With this ending a latch without an id agrees
// as well. The slots of real ids scatter.
func TestNameThatIsSafeByChanceOnly(t *testing.T) {
	key := "{" + strings.Repeat("x", 2480-len("{5890")) + "5890"
	if Slot(key) != Slot(Channel(key)) || Slot(key) != Slot(Latch(key, "")) {
		t.Fatal("the name has lost its property")
	}
	if SlotSafe(key) {
		t.Error("SlotSafe, though its latches are in other slots")
	}
}

func FuzzSlot(f *testing.F) {
	for _, key := range slotKeys {
		f.Add(key, "tail")
	}
	f.Fuzz(func(t *testing.T, key, tail string) {
		if s := Slot(key); s >= 16384 {
			t.Errorf("Slot(%q) = %d", key, s)
		}
		if tag, ok := hashTag(key); ok {
			if Slot(key) != Slot(key+tail) || Slot(key) != Slot("{"+tag+"}"+tail) {
				t.Errorf("the slot of %q is not its tag's", key)
			}
		}
	})
}
