package kind

import (
	"slices"
	"testing"
	"time"

	"github.com/rlock-go/redisson/internal/luasrc"
)

var fairKind = Fair(5 * time.Minute)

func TestFairCalls(t *testing.T) {
	const queue, times, channel = "redisson_lock_queue:{k}", "redisson_lock_timeout:{k}", "redisson_lock__channel:{k}"
	w := wanted(fairKind, "k")
	timed, once, alone := *w, *w, *w
	timed.Wait, once.OneTry, alone.KeyAlone = 1500*time.Microsecond, true, true
	lock, unlock, leave := luasrc.FairLockScript, luasrc.FairUnlockScript, luasrc.FairLeaveScript
	given := []any{unlock.SHA1, 4, "k", queue, times, "l", channel, w.Owner, int64(5), int64(6), 0, 0, "SPUBLISH"}
	for _, tc := range []struct {
		name   string
		call   Call
		resend Resend
		args   []any
	}{
		{"acquire", fairKind.Acquire(nil, w), Never, []any{lock.SHA1, 3, "k", queue, times, channel, w.Owner, int64(5), int64(300_000), 0, "SPUBLISH"}},
		{"acquire with a wait", fairKind.Acquire(nil, &timed), Never, []any{lock.SHA1, 3, "k", queue, times, channel, w.Owner, int64(5), int64(1), 0, "SPUBLISH"}},
		{"one attempt", fairKind.Acquire(nil, &once), Never, []any{lock.SHA1, 3, "k", queue, times, channel, w.Owner, int64(5), int64(300_000), 1, "SPUBLISH"}},
		{"release", fairKind.Release(nil, w), Always, given},
		{"giving up a wait", fairKind.Leave(&timed), Always, []any{leave.SHA1, 3, "k", queue, times, channel, 1, w.Owner, int64(1), "SPUBLISH"}},
		{"giving up", fairKind.Leave(w), Always, []any{leave.SHA1, 3, "k", queue, times, channel, 1, w.Owner, int64(300_000), "SPUBLISH"}},
		{"two give up", fairKind.Leave(w, &timed), Always, []any{leave.SHA1, 3, "k", queue, times, channel, 2, w.Owner, int64(300_000), w.Owner, int64(1), "SPUBLISH"}},
		{"force", fairKind.Force(w), Never, []any{luasrc.FairForceScript.SHA1, 3, "k", queue, times, channel, "SPUBLISH"}},
		{"force with the lock as its only key", fairKind.Force(&alone), Never, []any{luasrc.SpinForceUnlockScript.SHA1, 1, "k"}},
	} {
		if tc.call.Name != "EVALSHA" || tc.call.Resend != tc.resend || !tc.call.Writes || !slices.Equal(tc.call.Args, tc.args) {
			t.Errorf("%s: %+v, want %v", tc.name, tc.call, tc.args)
		}
	}
	if c := fairKind.Ask(Waiting, w); c.Name != "LLEN" || !slices.Equal(c.Args, []any{queue}) || c.Writes {
		t.Errorf("how many wait: %+v", c)
	}
	if a, err := fairKind.Ask(Waiting, w).Answer(int64(3)); err != nil || a.N != 3 {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := fairKind.Ask(Waiting, w).Answer("three"); err == nil {
		t.Error("an odd length is none")
	}
	if c := fairKind.Channel(w.Names, w.Owner); c != channel+":o" {
		t.Errorf("it listens on %q", c)
	}
}

func TestFairPausesAreBounded(t *testing.T) {
	for _, tc := range []struct{ told, least, most time.Duration }{
		{luasrc.NoTTL, 4 * time.Second, 5 * time.Second},
		{time.Hour, 4 * time.Second, 5 * time.Second},
		{2 * time.Second, 2 * time.Second, 2 * time.Second},
		{0, 100 * time.Millisecond, 100 * time.Millisecond},
	} {
		if least, most := fairKind.Pause(1, Grant{TTL: tc.told}); least != tc.least || most != tc.most {
			t.Errorf("told %v: %v to %v", tc.told, least, most)
		}
	}
	if least, most := fairKind.Pause(0, Grant{OK: true, TTL: time.Hour}); least != time.Hour || most != time.Hour {
		t.Errorf("behind a grant: %v to %v", least, most)
	}
}
