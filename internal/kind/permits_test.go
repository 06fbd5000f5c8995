package kind

import (
	"slices"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/luasrc"
)

func TestPermitCalls(t *testing.T) {
	const times, channel = "{k}:timeout", "redisson_sc:{k}"
	one, two := Permits(1), Permits(2)
	w := wanted(one, "k")
	ids := PermitIDs("o", 2)
	held := batch{{one, w.Names, w.Owner, 1}, {two, w.Names, w.Owner, 1}}
	common := func(s *luasrc.Script, keys int, more ...any) []any {
		return append([]any{s.SHA1, keys, times, "k"}, more...)
	}
	for _, tc := range []struct {
		name   string
		call   Call
		resend Resend
		writes bool
		args   []any
	}{
		{"acquire", one.Acquire(nil, w), Never, true, common(luasrc.PermitAcquireScript, 2, channel, 1, "SPUBLISH", int64(5), ids[0])},
		{"acquire of two", two.Acquire(nil, w), Never, true, common(luasrc.PermitAcquireScript, 2, channel, 1, "SPUBLISH", int64(5), ids[0], ids[1])},
		{"release", one.Release(nil, w), Always, true, common(luasrc.PermitReleaseScript, 2, channel, 1, "SPUBLISH", ids[0])},
		{"release of two", two.Release(nil, w), Always, true, common(luasrc.PermitReleaseScript, 2, channel, 1, "SPUBLISH", ids[0], ids[1])},
		{"renewal", one.Renew(nil, int64(9), len(held), held.at), Always, true, []any{luasrc.PermitRenewScript.SHA1, 2, times, times, int64(9), 1, ids[0], 2, ids[0], ids[1]}},
		{"force", one.Force(w), Never, true, common(luasrc.PermitDeleteScript, 2, channel, 1, "SPUBLISH")},
		{"by ids", ReleasePermits(w, ids), Always, true, common(luasrc.PermitReleaseIDsScript, 3, "l", channel, 1, "SPUBLISH", int64(6), ids[0], ids[1])},
		{"set", SetPermits(w, "first", 3, time.Second), Always, true, common(luasrc.PermitSetScript, 3, "l", channel, 1, "SPUBLISH", int64(6), "first", 3, int64(1000))},
		{"lease", LeasePermit(w, ids[0], int64(7)), Always, true, common(luasrc.PermitLeftScript, 2, channel, 1, "SPUBLISH", ids[0], int64(7))},
		{"left", PermitLeft(w, ids[0]), Reads, false, common(luasrc.PermitLeftScript, 2, channel, 1, "SPUBLISH", ids[0], 0)},
		{"count", CountPermits(w), Reads, false, common(luasrc.PermitCountScript, 2, channel, 1, "SPUBLISH")},
	} {
		if tc.call.Name != "EVALSHA" || tc.call.Resend != tc.resend || tc.call.Writes != tc.writes || !slices.Equal(tc.call.Args, tc.args) {
			t.Errorf("%s: %+v, want %v", tc.name, tc.call, tc.args)
		}
	}
	if c, left := one.Ask(HoldCount, w), one.Leave(w); !c.Empty() || !left.Empty() {
		t.Error("it has counts, or waiters on the server")
	}
	if c := one.Channel(w.Names, w.Owner); c != channel {
		t.Errorf("it listens on %q", c)
	}
}

func TestPermitIDsAreOfTheirOwner(t *testing.T) {
	a, b := PermitIDs("a:1", 3), PermitIDs("a:11", 3)
	all := append(a, b...)
	slices.Sort(all)
	if len(slices.Compact(all)) != 6 || len(all[0]) != 16 {
		t.Errorf("ids %q", all)
	}
	if !slices.Equal(PermitIDs("a:1", 3), a) || PermitIDs("a:1", 1)[0] != a[0] {
		t.Error("ids change")
	}
	o := someone("a:1")
	if h := (Held{Kind: Permits(2), Owner: &o}); !HasPermit(h, map[string]bool{a[1]: true}) || HasPermit(h, map[string]bool{a[2]: true}) {
		t.Error("whose permits they are")
	}
}

func TestPermitMessagesWakeByTheirNumber(t *testing.T) {
	for payload, want := range map[string]int{
		"1": 1, "12": 12, "0": 0, "-3": 0, "": 0, "two": 0, "1.5": 0, "99999999999999999999": All, "-99999999999999999999": 0, "9999999999": All,
	} {
		if got := Permits(1).Wake([]byte(payload)); got != want {
			t.Errorf("%q wakes %d, want %d", payload, got, want)
		}
	}
}

func TestPermitReplies(t *testing.T) {
	k := Permits(1)
	g, err := k.Granted(nil)
	check(t, "permits", "grant", g, Grant{OK: true}, err)
	g, err = k.Granted(int64(-1))
	check(t, "permits", "refusal", g, Grant{TTL: luasrc.NoTTL}, err)
	for _, tc := range []struct{ told, most time.Duration }{{0, 0}, {time.Second, time.Second}, {time.Hour, 5 * time.Second}, {luasrc.NoTTL, 5 * time.Second}} {
		if least, most := k.Pause(1, Grant{TTL: tc.told}); most != tc.most || least > most || least < most*4/5 {
			t.Errorf("told %v: %v to %v", tc.told, least, most)
		}
	}
}
