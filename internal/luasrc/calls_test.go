package luasrc

import (
	"fmt"
	"slices"
	"testing"
)

func TestCallArguments(t *testing.T) {
	for _, tc := range []struct {
		call Call
		want []any
	}{
		{Lock(nil, "k", "o", int64(5)), []any{LockScript.SHA1, 1, "k", int64(5), "o"}},
		{Unlock(nil, "k", "c", "l", "o", int64(5), int64(6), SPublish), []any{UnlockScript.SHA1, 3, "k", "c", "l", "0", int64(5), "o", "SPUBLISH", int64(6)}},
		{UnlockTo(nil, "k", "c", "o", int64(5), Left{}, Publish), []any{UnlockToScript.SHA1, 1, "k", "0", int64(5), "o", "c", 0, 0, "PUBLISH"}},
		{UnlockTo(nil, "k", "c", "o", int64(5), Left{2, true}, Both), []any{UnlockToScript.SHA1, 1, "k", "0", int64(5), "o", "c", 2, 1, "SPUBLISH", "PUBLISH"}},
		{UnlockTo(nil, "k", "", "o", int64(5), Left{2, false}, nil), []any{UnlockToScript.SHA1, 1, "k", "0", int64(5), "o", "", 2, 0}},
		{ForceUnlock("k", "c", Publish), []any{ForceUnlockScript.SHA1, 2, "k", "c", "0", "PUBLISH"}},
		{Unlock(nil, "k", "c", "l", "o", int64(5), int64(6), Both), []any{UnlockScript.SHA1, 3, "k", "c", "l", "0", int64(5), "o", "SPUBLISH", int64(6), "PUBLISH"}},
		{ForceUnlock("k", "c", Both), []any{ForceUnlockScript.SHA1, 2, "k", "c", "0", "SPUBLISH", "PUBLISH"}},
		{ForceUnlockAlone("k", "c", SPublish), []any{ForceUnlockAloneScript.SHA1, 1, "k", "0", "c", "SPUBLISH"}},
		{ForceUnlockAlone("k", "c", Both), []any{ForceUnlockAloneScript.SHA1, 1, "k", "0", "c", "SPUBLISH", "PUBLISH"}},
		{SpinUnlock(nil, "k", "l", "o", int64(5), int64(6)), []any{SpinUnlockScript.SHA1, 2, "k", "l", int64(5), "o", int64(6)}},
		{FencedLock(nil, "k", "f", "o", int64(5)), []any{FencedLockScript.SHA1, 2, "k", "f", int64(5), "o"}},
		{NonReentrantLock(nil, "k", "o", int64(5)), []any{NonReentrantLockScript.SHA1, 1, "k", int64(5), "o", "NON_REENTRANT_REACQUIRE"}},
		{Again(FencedLock(nil, "k", "f", "o", int64(5)), 3), []any{FencedLockAgainScript.SHA1, 2, "k", "f", int64(5), "o", 3}},
		{SpinForceUnlock("k"), []any{SpinForceUnlockScript.SHA1, 1, "k"}},
		{renewAll([]string{"k", "K"}, []string{"o", "O"}), []any{RenewScript.SHA1, 2, "k", "K", lease, "o", "O"}},
		{renewAll(nil, nil), []any{RenewScript.SHA1, 0, lease}},
	} {
		if got := tc.call.Args; !slices.Equal(got, tc.want) {
			t.Errorf("%s: %v, want %v", tc.call.Script.Name, got, tc.want)
		}
	}
}

func TestRenewUsesTheMemoryThatItIsGiven(t *testing.T) {
	var room [5]any
	c := Renew(room[:0], lease, 1, func(int) (key, owner Arg) { return "k", "o" })
	if &c.Args[0] != &room[0] || len(c.Args) != len(room) {
		t.Errorf("%v, beside %v", c.Args, room)
	}
}

// sink keeps the calls from being optimised away.
var sink Call

func BenchmarkLock(b *testing.B) {
	b.ReportAllocs()
	key, owner := fmt.Sprint("order:", b.N), fmt.Sprint("owner:", b.N)
	for b.Loop() {
		sink = Lock(nil, key, owner, 30_000)
	}
}

func BenchmarkUnlock(b *testing.B) {
	b.ReportAllocs()
	key, owner := fmt.Sprint("order:", b.N), fmt.Sprint("owner:", b.N)
	for b.Loop() {
		sink = Unlock(nil, key, channel, latch, owner, 30_000, 16_000, Publish)
	}
}
