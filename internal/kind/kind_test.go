package kind

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/luasrc"
)

// someone is an owner.
type someone string

func (o *someone) RedisArg() any  { return string(*o) }
func (o *someone) String() string { return string(*o) }

// batch is a batch of leases.
type batch []Held

func (b batch) at(i int) Held { return b[i] }

// wanted returns a Want with everything that a call can ask for.
func wanted(k Kind, key string) *Want {
	names, owner := k.Names(key), someone("o")
	return &Want{
		Names: &names, Owner: &owner,
		Lease: int64(5), Latch: "l", LatchTTL: int64(6), Publish: luasrc.SPublish,
	}
}

// owned are the kinds that count holds per owner.
var owned = []struct {
	name string
	kind Kind
}{{"reentrant", Reentrant}, {"spin", Spin}, {"read", ReadLock}, {"write", WriteLock}}

func TestCalls(t *testing.T) {
	const key, channel = "k", "redisson_lock__channel:{k}"
	plain, spin, fence := wanted(Reentrant, key), wanted(Spin, key), wanted(Fenced, key)
	lock, renew := luasrc.LockScript, luasrc.RenewScript
	own, told, ownSpin := *plain, *plain, *spin
	own.Latch, told.Latch, ownSpin.Latch, told.Publish = nil, nil, nil, luasrc.Publish
	told.Left, ownSpin.Left = Left{Least: 2, Exact: true}, Left{Least: 2, Exact: true}
	alone := told
	alone.KeyAlone = true
	kept, keptOwn, keptSpin, keptFair := *plain, told, *spin, *wanted(Fair(time.Minute), key)
	for _, w := range []*Want{&kept, &keptOwn, &keptSpin, &keptFair} {
		w.Keep = Keep{"k", 7}
	}
	leases := batch{{Kind: Reentrant, Names: plain.Names, Owner: plain.Owner}, {Kind: Spin, Names: spin.Names, Owner: spin.Owner}}
	for _, tc := range []struct {
		name   string
		call   Call
		script *luasrc.Script // nil: a plain command, the first of args
		resend Resend
		args   []any
	}{
		{"acquire", Reentrant.Acquire(nil, plain), lock, Never, []any{lock.SHA1, 1, key, int64(5), plain.Owner}},
		{"spin acquire", Spin.Acquire(nil, spin), lock, Never, []any{lock.SHA1, 1, key, int64(5), spin.Owner}},
		{"fenced acquire", Fenced.Acquire(nil, fence), luasrc.FencedLockScript, Never,
			[]any{luasrc.FencedLockScript.SHA1, 2, key, "redisson_lock_token:{k}", int64(5), fence.Owner}},
		{"fenced release", Fenced.Release(nil, fence), luasrc.UnlockScript, Always,
			[]any{luasrc.UnlockScript.SHA1, 3, key, channel, "l", "0", int64(5), fence.Owner, "SPUBLISH", int64(6)}},
		{"non-reentrant acquire", NonReentrant.Acquire(nil, plain), luasrc.NonReentrantLockScript, Never,
			[]any{luasrc.NonReentrantLockScript.SHA1, 1, key, int64(5), plain.Owner, "NON_REENTRANT_REACQUIRE"}},
		{"last token", Fenced.Ask(LastToken, fence).Call, nil, Reads, []any{"GET", "redisson_lock_token:{k}"}},
		{"is a fenced one held by", Fenced.Ask(HeldBy, fence).Call, nil, Reads, []any{"HEXISTS", key, fence.Owner}},
		{"release", Reentrant.Release(nil, plain), luasrc.UnlockScript, Always,
			[]any{luasrc.UnlockScript.SHA1, 3, key, channel, "l", "0", int64(5), plain.Owner, "SPUBLISH", int64(6)}},
		{"release of an own owner", Reentrant.Release(nil, &told), luasrc.UnlockToScript, Always,
			[]any{luasrc.UnlockToScript.SHA1, 1, key, "0", int64(5), plain.Owner, channel, 2, 1, "PUBLISH"}},
		{"the same where shards publish", Reentrant.Release(nil, &own), luasrc.UnlockToScript, Always,
			[]any{luasrc.UnlockToScript.SHA1, 1, key, "0", int64(5), plain.Owner, channel, 0, 0, "SPUBLISH"}},
		{"spin release of an own owner", Spin.Release(nil, &ownSpin), luasrc.UnlockToScript, Always,
			[]any{luasrc.UnlockToScript.SHA1, 1, key, "0", int64(5), spin.Owner, "", 2, 1}},
		{"spin release", Spin.Release(nil, spin), luasrc.SpinUnlockScript, Always,
			[]any{luasrc.SpinUnlockScript.SHA1, 2, key, "l", int64(5), spin.Owner, int64(6)}},
		{"release that keeps", Reentrant.Release(nil, &kept), luasrc.UnlockKeepScript, Always,
			[]any{luasrc.UnlockKeepScript.SHA1, 2, key, "l", "0", int64(5), plain.Owner, channel, int64(6), "k", int64(7), 0, 0, "SPUBLISH"}},
		{"the same of an own owner", Reentrant.Release(nil, &keptOwn), luasrc.UnlockKeepScript, Always,
			[]any{luasrc.UnlockKeepScript.SHA1, 1, key, "0", int64(5), plain.Owner, channel, int64(6), "k", int64(7), 2, 1, "PUBLISH"}},
		{"spin release that keeps", Spin.Release(nil, &keptSpin), luasrc.UnlockKeepScript, Always,
			[]any{luasrc.UnlockKeepScript.SHA1, 2, key, "l", "0", int64(5), spin.Owner, "", int64(6), "k", int64(7), 0, 0}},
		{"fair release that keeps", Fair(time.Minute).Release(nil, &keptFair), luasrc.FairKeepScript, Always,
			[]any{luasrc.FairKeepScript.SHA1, 4, key, "redisson_lock_queue:{k}", "redisson_lock_timeout:{k}", "l", channel, keptFair.Owner, int64(5), int64(6), "k", int64(7), 0, 0, "SPUBLISH"}},
		{"renew", Reentrant.Renew(nil, int64(9), len(leases), leases.at), renew, Always, []any{renew.SHA1, 2, key, key, int64(9), plain.Owner, spin.Owner}},
		{"spin renew", Spin.Renew(nil, int64(9), len(leases), leases.at), renew, Always, []any{renew.SHA1, 2, key, key, int64(9), plain.Owner, spin.Owner}},
		{"force", Reentrant.Force(plain), luasrc.ForceUnlockScript, Never, []any{luasrc.ForceUnlockScript.SHA1, 2, key, channel, "0", "SPUBLISH"}},
		{"force with the lock as its only key", Reentrant.Force(&alone), luasrc.ForceUnlockAloneScript, Never, []any{luasrc.ForceUnlockAloneScript.SHA1, 1, key, "0", channel, "PUBLISH"}},
		{"spin force", Spin.Force(spin), luasrc.SpinForceUnlockScript, Never, []any{luasrc.SpinForceUnlockScript.SHA1, 1, key}},
		{"is locked", Spin.Ask(Locked, spin).Call, nil, Reads, []any{"EXISTS", key}},
		{"is held by", Reentrant.Ask(HeldBy, plain).Call, nil, Reads, []any{"HEXISTS", key, plain.Owner}},
		{"hold count", Reentrant.Ask(HoldCount, plain).Call, nil, Reads, []any{"HGET", key, plain.Owner}},
		{"holding", Spin.Ask(Holding, spin).Call, luasrc.InfoScript, Reads, []any{luasrc.InfoScript.SHA1, 1, key}},
		{"remain TTL", Reentrant.Ask(RemainTTL, plain).Call, nil, Reads, []any{"PTTL", key}},
	} {
		got := tc.call.Args
		if tc.script == nil {
			got = append([]any{tc.call.Name}, got...)
		} else if tc.call.Name != "EVALSHA" {
			t.Errorf("%s: the command is %s", tc.name, tc.call.Name)
		}
		if tc.call.Script != tc.script || tc.call.Resend != tc.resend || !slices.Equal(got, tc.args) {
			t.Errorf("%s: %+v, want %v", tc.name, tc.call, tc.args)
		}
		if writes := tc.script != nil && tc.script != luasrc.InfoScript; tc.call.Writes != writes || tc.call.Empty() {
			t.Errorf("%s: %+v", tc.name, tc.call)
		}
	}
}

func TestWaiterOfAnOwnedLockHasNothingOnTheServer(t *testing.T) {
	for _, k := range owned {
		if call := k.kind.Leave(wanted(k.kind, "k")); !call.Empty() {
			t.Errorf("%s: a waiter that was refused leaves %+v", k.name, call)
		}
	}
}

func TestOnlyAPlainLockHasAChannel(t *testing.T) {
	w := wanted(Reentrant, "{k}")
	if got := Reentrant.Channel(w.Names, w.Owner); got != "redisson_lock__channel:{k}" {
		t.Errorf("a plain lock listens on %q", got)
	}
	w = wanted(Spin, "{k}")
	if got := Spin.Channel(w.Names, w.Owner); got != "" || w.Names.Key() != "{k}" {
		t.Errorf("a spin lock listens on %q", got)
	}
	for payload, want := range map[string]int{"0": 1, "1": 0, "": 0, "00": 0} {
		if got := Reentrant.Wake([]byte(payload)); got != want {
			t.Errorf("message %q wakes %d", payload, got)
		}
		if got := Spin.Wake([]byte(payload)); got != 0 {
			t.Errorf("message %q wakes %d of a spin lock", payload, got)
		}
	}
}

func TestReplies(t *testing.T) {
	const field = "550e8400-e29b-41d4-a716-446655440000:31"
	odd := redis.Error("ERR odd")
	for _, k := range owned {
		w := wanted(k.kind, "k")
		g, err := k.kind.Granted(nil)
		check(t, k.name, "grant", g, Grant{OK: true}, err)
		g, err = k.kind.Granted(int64(1500))
		check(t, k.name, "refusal", g, Grant{TTL: 1500 * time.Millisecond}, err)
		g, err = k.kind.Granted(int64(-1))
		check(t, k.name, "refusal for ever", g, Grant{TTL: luasrc.NoTTL}, err)
		a, err := k.kind.Ask(HoldCount, w).Answer([]byte("2"))
		check(t, k.name, "hold count", a, Answer{N: 2}, err)
		a, err = k.kind.Ask(HeldBy, w).Answer(int64(1))
		check(t, k.name, "is held by", a, Answer{Yes: true}, err)
		a, err = k.kind.Ask(RemainTTL, w).Answer(int64(-2))
		check(t, k.name, "no TTL", a, Answer{}, err)
		a, err = k.kind.Ask(RemainTTL, w).Answer(int64(20))
		check(t, k.name, "TTL", a, Answer{Yes: true, TTL: 20 * time.Millisecond}, err)
		a, err = k.kind.Ask(Holding, w).Answer([]any{int64(20), int64(1), []byte(field), []byte("2")})
		check(t, k.name, "holder", a, Answer{Yes: true, N: 2, TTL: 20 * time.Millisecond, Owner: field}, err)
		for what, read := range map[string]func() error{
			"acquire": func() error { _, err := k.kind.Granted(odd); return err },
			"count":   func() error { _, err := k.kind.Ask(HoldCount, w).Answer(odd); return err },
			"answer":  func() error { _, err := k.kind.Ask(Locked, w).Answer(odd); return err },
		} {
			if err := read(); !errors.Is(err, odd) {
				t.Errorf("%s: the server's error as reply of %s: %v", k.name, what, err)
			}
		}
	}
}

// Redisson returns -1 for a grant, which is also the TTL of a key that never expires.
func TestFencedGrantHasATokenOfOneAtLeast(t *testing.T) {
	g, err := Fenced.Granted([]any{int64(7)})
	check(t, "fenced", "grant", g, Grant{OK: true, Token: 7}, err)
	g, err = Fenced.Granted(int64(1500))
	check(t, "fenced", "refusal", g, Grant{TTL: 1500 * time.Millisecond}, err)
	g, err = Fenced.Granted(int64(-1))
	check(t, "fenced", "refusal for ever", g, Grant{TTL: luasrc.NoTTL}, err)
	tokens := Fenced.Ask(LastToken, wanted(Fenced, "k"))
	a, err := tokens.Answer([]byte("7"))
	check(t, "fenced", "last token", a, Answer{N: 7}, err)
	a, err = tokens.Answer(nil)
	check(t, "fenced", "no token so far", a, Answer{}, err)
	for _, reply := range []any{
		nil, []any{}, []any{int64(0)}, []any{int64(-1)}, []any{nil}, []any{"7"}, []any{int64(-1), int64(7)}, "OK", []byte("7"), int64(-3), redis.Error("ERR odd"),
	} {
		if g, err := Fenced.Granted(reply); err == nil || g.OK || g.Token != 0 {
			t.Errorf("%v is %+v, %v", reply, g, err)
		}
	}
	if _, err := tokens.Answer([]byte("-7")); err == nil {
		t.Error("a token below zero")
	}
	if call := Reentrant.Ask(LastToken, wanted(Reentrant, "k")); !call.Empty() {
		t.Errorf("a plain lock's tokens are asked for by %v", call)
	}
}

func TestNonReentrantLockRefusesItsOwnerForGood(t *testing.T) {
	g, err := NonReentrant.Granted(luasrc.Reacquired)
	check(t, "non-reentrant", "its owner's acquire", g, Grant{Refused: ErrReentered}, err)
	g, err = NonReentrant.Granted(nil)
	check(t, "non-reentrant", "grant", g, Grant{OK: true}, err)
	g, err = NonReentrant.Granted(int64(1500))
	check(t, "non-reentrant", "refusal", g, Grant{TTL: 1500 * time.Millisecond}, err)
	for _, reply := range []any{"OK", []byte(luasrc.Reacquired), redis.Error("ERR " + luasrc.Reacquired)} {
		if g, err := NonReentrant.Granted(reply); err == nil || g.OK || g.Refused != nil {
			t.Errorf("%v is %+v, %v", reply, g, err)
		}
	}
	if *NonReentrant.Traits() != labelled(*Reentrant.Traits(), NonReentrantLabel) {
		t.Error("they are handled in two ways")
	}
}

// Waiters for a fenced lock and for a plain one share a queue, and a release of either wakes them.
func TestFencedLockIsAPlainOneButForItsGrants(t *testing.T) {
	traits := labelled(*Reentrant.Traits(), FencedLabel)
	traits.Lasting = true
	if *Fenced.Traits() != traits {
		t.Error("they are handled in two ways")
	}
	plain, fence := wanted(Reentrant, "k"), wanted(Fenced, "k")
	if Fenced.Channel(fence.Names, fence.Owner) != Reentrant.Channel(plain.Names, plain.Owner) {
		t.Error("they listen on two channels")
	}
}

func check[T comparable](t *testing.T, kind, what string, got, want T, err error) {
	t.Helper()
	if err != nil || got != want {
		t.Errorf("%s: %s is %+v, %v; want %+v", kind, what, got, err, want)
	}
}

func TestSpinPausesDoubleTo128Milliseconds(t *testing.T) {
	const ms = time.Millisecond
	for tries, want := range []time.Duration{1, 1, 2, 4, 8, 16, 32, 64, 128, 128, 128} {
		least, most := Spin.Pause(tries, Grant{TTL: time.Hour})
		if most != want*ms || least < ms || least > most || most > ms && least != most/2 {
			t.Errorf("after %d tries: %v to %v", tries, least, most)
		}
	}
	if least, most := Spin.Pause(math.MaxInt, Grant{}); least != 64*ms || most != 128*ms {
		t.Errorf("after very many tries: %v to %v", least, most)
	}
}

func TestPlainWaiterPausesForTheLease(t *testing.T) {
	for _, ttl := range []time.Duration{0, time.Second, luasrc.NoTTL} {
		if least, most := Reentrant.Pause(3, Grant{TTL: ttl}); least != ttl || most != ttl {
			t.Errorf("%v to %v for a lease of %v", least, most, ttl)
		}
	}
}

func TestKindsOfOneHashShareOwnersAndNotTheirQueues(t *testing.T) {
	r, s := Reentrant.Traits(), Spin.Traits()
	if r.Family != s.Family || r.RenewGroup != s.RenewGroup || r.Queue == s.Queue {
		t.Errorf("%+v, %+v", r, s)
	}
	if r != Reentrant.Traits() || s != Spin.Traits() {
		t.Error("traits change")
	}
	if s.FairShare {
		t.Error("a spin lock has no channel whose subscribers could be counted")
	}
}

func TestUncontendedLockAllocatesNothing(t *testing.T) {
	for _, k := range owned {
		var room [luasrc.MaxArgs]any
		w := wanted(k.kind, "k")
		w.Latch = nil
		at := batch{{k.kind, w.Names, w.Owner, 0}}.at
		var one any = int64(1)
		if n := testing.AllocsPerRun(100, func() {
			acquire := k.kind.Acquire(room[:0], w)
			_, err := k.kind.Granted(nil)
			release := k.kind.Release(room[:0], w)
			_, err2 := luasrc.DecodeRelease(one)
			renew := k.kind.Renew(room[:0], w.Lease, 1, at)
			if acquire.Empty() || release.Empty() || renew.Empty() || err != nil || err2 != nil || k.kind.Traits() == nil {
				t.Error("no call")
			}
		}); n != 0 && (k.kind != WriteLock && k.kind != ReadLock || n != 2) { // a writer's field and a reader's keys are made for each renewal
			t.Errorf("%s: %v allocations", k.name, n)
		}
	}
}
