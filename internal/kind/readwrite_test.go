package kind

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/luasrc"
)

func TestCallsOfAReadWriteLock(t *testing.T) {
	const key, channel, holds = "k", "redisson_rwlock:{k}", "{k}"
	w := wanted(ReadLock, key)
	o, lease, ttl := w.Owner, w.Lease, w.LatchTTL
	both := *w
	both.Publish = luasrc.Both
	leases := batch{{ReadLock, w.Names, o, 2}, {ReadLock, w.Names, o, 0}}
	as, own := writer{o}, holds+":"+o.String()+":rwlock_timeout:"
	for name, row := range map[string]struct {
		call   Call
		script *luasrc.Script // nil: a plain command, the first of args
		resend Resend
		args   []any
	}{
		"read":         {ReadLock.Acquire(nil, w), luasrc.ReadLockScript, Never, []any{2, key, channel, lease, o, holds}},
		"write":        {WriteLock.Acquire(nil, w), luasrc.WriteLockScript, Never, []any{1, key, lease, o}},
		"read unlock":  {ReadLock.Release(nil, w), luasrc.ReadUnlockScript, Always, []any{4, key, channel, holds, "l", lease, o, ttl, 0, 0, "SPUBLISH"}},
		"write unlock": {WriteLock.Release(nil, &both), luasrc.WriteUnlockScript, Always, []any{4, key, channel, holds, "l", lease, o, ttl, 0, 0, "SPUBLISH", "PUBLISH"}},
		"read renew":   {ReadLock.Renew(nil, int64(9), len(leases), leases.at), luasrc.ReadRenewScript, Always, []any{4, key, own + "1", own + "2", key, int64(9), o, 2, o, 0}},
		"write renew":  {WriteLock.Renew(nil, int64(9), 1, leases.at), luasrc.RenewScript, Always, []any{1, key, int64(9), as}},
		"read force":   {ReadLock.Force(w), luasrc.ReadWriteForceScript, Never, []any{3, key, channel, holds, "read", "0", "SPUBLISH"}},
		"write force":  {WriteLock.Force(w), luasrc.ReadWriteForceScript, Never, []any{3, key, channel, holds, "write", "1", "SPUBLISH"}},
		"is read":      {ReadLock.Ask(Locked, w).Call, luasrc.ReadWriteInfoScript, Reads, []any{1, key, "read"}},
		"who writes":   {WriteLock.Ask(Holding, w).Call, luasrc.ReadWriteInfoScript, Reads, []any{1, key, "write"}},

		"reads":          {ReadLock.Ask(HeldBy, w).Call, nil, Reads, []any{"HEXISTS", key, o}},
		"writes":         {WriteLock.Ask(HeldBy, w).Call, nil, Reads, []any{"HEXISTS", key, as}},
		"read count":     {ReadLock.Ask(HoldCount, w).Call, nil, Reads, []any{"HGET", key, o}},
		"write count":    {WriteLock.Ask(HoldCount, w).Call, nil, Reads, []any{"HGET", key, as}},
		"remain TTL":     {WriteLock.Ask(RemainTTL, w).Call, nil, Reads, []any{"PTTL", key}},
		"read to force":  {ReadLock.Ask(Forcible, w).Call, nil, Reads, []any{"HGET", key, "mode"}},
		"write to force": {WriteLock.Ask(Forcible, w).Call, nil, Reads, []any{"HGET", key, "mode"}},
	} {
		got, want := row.call.Args, row.args
		if row.script == nil {
			got = append([]any{row.call.Name}, got...)
		} else {
			want = append([]any{row.script.SHA1}, want...)
		}
		if row.call.Script != row.script || row.call.Resend != row.resend || !slices.Equal(got, want) || row.call.Writes != (row.script != nil && row.resend != Reads) {
			t.Errorf("%s: %+v, want %v", name, row.call, want)
		}
	}
	if as.RedisArg() != "o:write" || as.String() != "o:write" {
		t.Errorf("a writer is %v", as.RedisArg())
	}
}

func TestReleaseWakesAllReadersAndOneWriter(t *testing.T) {
	for payload, want := range map[string][2]int{"0": {All, 1}, "1": {All, 1}, "": {}, "2": {}, "00": {}} {
		if got := [2]int{ReadLock.Wake([]byte(payload)), WriteLock.Wake([]byte(payload))}; got != want {
			t.Errorf("message %q wakes %v", payload, got)
		}
	}
}

func TestRepliesOfAReadWriteLock(t *testing.T) {
	for name, k := range map[string]Kind{"read": ReadLock, "write": WriteLock} {
		w := wanted(k, "k")
		g, err := k.Granted([]byte(luasrc.NoReadWriteLock))
		if shape, ok := errors.AsType[*luasrc.ShapeError](g.Refused); g.OK || err != nil || !ok || shape.Got != luasrc.NoReadWriteLock {
			t.Errorf("%s: a hash without mode is %+v, %v", name, g, err)
		}
		for _, odd := range []any{[]byte("odd"), "OK", []any{}, redis.Error("ERR odd")} {
			if g, err := k.Granted(odd); err == nil || g != (Grant{}) {
				t.Errorf("%s: %v is %+v", name, odd, g)
			}
		}
		for reply, want := range map[string]bool{"read": name == "read", "write": name == "write", "odd": false} {
			a, err := k.Ask(Forcible, w).Answer([]byte(reply))
			check(t, name, "mode", a, Answer{Yes: want}, err)
		}
		a, err := k.Ask(Forcible, w).Answer(nil)
		check(t, name, "no mode", a, Answer{}, err)
		if _, err := k.Ask(Forcible, w).Answer(int64(1)); err == nil {
			t.Errorf("%s: an odd mode", name)
		}
		a, err = k.Ask(Locked, w).Answer([]any{int64(-2), int64(0)})
		check(t, name, "is locked", a, Answer{}, err)
	}
}

// When one of several readers releases, the lock may end earlier, and no message says so.
func TestReadPausesAreBounded(t *testing.T) {
	for _, k := range []Kind{ReadLock, WriteLock} {
		for _, tc := range []struct{ told, least, most time.Duration }{
			{luasrc.NoTTL, 800 * time.Millisecond, time.Second},
			{time.Hour, 800 * time.Millisecond, time.Second},
			{time.Millisecond, time.Millisecond, time.Millisecond},
		} {
			if least, most := k.Pause(1, Grant{TTL: tc.told}); least != tc.least || most != tc.most {
				t.Errorf("told %v: %v to %v", tc.told, least, most)
			}
		}
	}
}
