package luasrc

import (
	"strings"
	"testing"
)

// The scripts that tell both kinds of subscribers are those that tell one, but for
// that.
func TestScriptsThatTellBothDifferInThatOnly(t *testing.T) {
	body := func(s *Script) string {
		_, code, _ := strings.Cut(s.Source, "free.\n\n")
		if code == "" {
			_, code, _ = strings.Cut(s.Source, "announced.\n\n")
		}
		return code
	}
	for _, row := range []struct {
		one, both *Script
		call      string
		renumber  *strings.Replacer
	}{
		{UnlockScript, UnlockBothScript, "  call(ARGV[4], KEYS[2], ARGV[1])\n", strings.NewReplacer("ARGV[5]", "ARGV[4]")},
		{ForceUnlockScript, ForceUnlockBothScript, "redis.call(ARGV[2], KEYS[2], ARGV[1])\n", strings.NewReplacer()},
	} {
		each := strings.NewReplacer("ARGV[4]", "'spublish'", "ARGV[2]", "'spublish'").Replace(row.call) +
			strings.NewReplacer("ARGV[4]", "'publish'", "ARGV[2]", "'publish'").Replace(row.call)
		before, after, ok := strings.Cut(body(row.one), row.call)
		if want := before + each + row.renumber.Replace(after); !ok || body(row.both) != want {
			t.Errorf("%s is\n%s\nwant\n%s", row.both.Name, body(row.both), want)
		}
	}
}

func TestUnlockTellsBoth(t *testing.T) {
	r := newRig(t)
	r.do("HSET", key, owner, 1)
	for range 2 { // the second is its repetition
		if got := show(r.do("EVALSHA", unlock(Both).Args...)); got != "int 1" {
			t.Errorf("reply %s", got)
		}
	}
	r.holds(nil, "1")
	r.lives(latch, latchMs)
	r.published("0")
	r.do("DEL", latch)
	r.do("HSET", key, owner, 1)
	r.expect(unlock(Both), "int 1",
		"get "+latch, "hexists "+key+" "+owner, "hincrby "+key+" "+owner+" -1", "del "+key,
		"spublish "+channel+" 0", "publish "+channel+" 0", "set "+latch+" 1 px 16000")
}

func TestForceUnlockTellsBoth(t *testing.T) {
	r := newRig(t)
	r.expect(ForceUnlock(key, channel, Both), "int 0", "del "+key)
	r.do("HSET", key, owner, 5, other, 1)
	r.expect(ForceUnlock(key, channel, Both), "int 1", "del "+key, "spublish "+channel+" 0", "publish "+channel+" 0")
	r.holds(nil, "")
	r.published("0")
}
