package wire

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/integration/kit/javapeer"
	"github.com/rlock-go/redisson/rlock"
)

// wrongScripts are scripts that would often work and are not Redisson's.
var wrongScripts = []struct {
	name     string
	role     string
	old, new string // what is altered in the library's script
	scenario string
	caught   []string // lines that the report must have
}{
	{
		"a first acquire by hset", "lock",
		"redis.call('hincrby', KEYS[1], ARGV[2], 1)", "redis.call('hset', KEYS[1], ARGV[2], 1)", "first acquire, by a try",
		[]string{"lock of order:17, differ", "java only:     hincrby order:17 OWNER1 1", "go only:       hset order:17 OWNER1 1"},
	}, {
		"the lease set before the count", "lock",
		"redis.call('hincrby', KEYS[1], ARGV[2], 1); redis.call('pexpire', KEYS[1], ARGV[1]);",
		"redis.call('pexpire', KEYS[1], ARGV[1]); redis.call('hincrby', KEYS[1], ARGV[2], 1);", "re-entry",
		[]string{"lock of order:17, differ", "java only:     hincrby order:17 OWNER1 1", "go only:       hincrby order:17 OWNER1 1"},
	}, {
		"a lease in seconds for the refused", "lock", "redis.call('pttl'", "redis.call('ttl'", "contended try",
		[]string{"lock of order:17, differ", "java only:     pttl order:17", "go only:       ttl order:17"},
	}, {
		"another text with the same calls", "lock", "return nil; end;", "return nil end;", "first acquire, by a try",
		[]string{"lock of order:17, differ", "java only: EVALSHA lock " + lockSHA},
	}, {
		"no message", "unlock", "announce(ARGV[4], KEYS[2], ARGV[1])", "", "final unlock",
		[]string{"unlock of order:17, differ", "java only:     publish redisson_lock__channel:{order:17} 0", "messages differ"},
	}, {
		"the message before the deletion", "unlock",
		"call('del', lock)\n  announce(ARGV[4], KEYS[2], ARGV[1])",
		"call(ARGV[4], KEYS[2], ARGV[1])\n  call('del', lock)", "final unlock",
		[]string{"unlock of order:17, differ", "go only:       del order:17"},
	}, {
		"no latch", "unlock", "call('set', latch, result, 'px', ARGV[5])", "", "partial unlock",
		[]string{"unlock of order:17, differ", "java only:     set redisson_unlock_latch:{order:17}:LATCH1 0 px LATCHTIME",
			"DEL of redisson_unlock_latch:{order:17}:LATCH1, differ"},
	}, {
		"a latch for ever", "unlock", "result, 'px', ARGV[5])", "result)", "partial unlock",
		[]string{"unlock of order:17, differ", "go only:       set redisson_unlock_latch:{order:17}:LATCH1 0\n"},
	}, {
		"a second decrement", "unlock", "owner, '-1')", "owner, '-2')", "final unlock",
		[]string{"unlock of order:17, differ", "go only:       hincrby order:17 OWNER1 -2"},
	}, {
		"a count that does not go down by one", "unlock", "owner, '-1') > 0", "owner, '-2') >= 0", "partial unlock",
		[]string{"unlock of order:17, differ", "go only:       hincrby order:17 OWNER1 -2", "keys left differ",
			"go only:   order:17 hash OWNER1 0"},
	}, {
		"no new lease for the holds that are left", "unlock", "call('pexpire', lock, ARGV[2])", "", "partial unlock",
		[]string{"unlock of order:17, differ", "java only:     pexpire order:17 600000"},
	}, {
		"a stranger's unlock that frees", "unlock", "if call('hexists', lock, owner) == 0 then\n  return nil\nend",
		"call('hexists', lock, owner)", "unlock by a stranger",
		[]string{"unlock of order:17, differ", "go only:       del order:17", "java only:     → nil", "keys left differ"},
	}, {
		"a message though nothing was forced", "force", "  return 0", "  redis.call(ARGV[2], KEYS[2], ARGV[1])\n  return 0",
		"force unlock of an unlocked one",
		[]string{"force of order:17, differ", "go only:       publish redisson_lock__channel:{order:17} 0", "messages differ"},
	}, {
		"another answer", "force", "return 0", "return 1", "force unlock of an unlocked one",
		[]string{"force of order:17, differ", "java only:     → int 0", "go only:       → int 1"},
	}, {
		"a renewal of what was lost", "renew", "renewed[i] = mine", "renewed[i] = 1", "renewal of five, one of them lost",
		[]string{"java only:     order:17-002 of OWNER1: int 0 after hexists", "go only:       order:17-002 of OWNER1: int 1 after hexists"},
	}, {
		"a renewal in seconds", "renew", "call('pexpire', lock, lease)", "call('expire', lock, math.floor(lease / 1000 + 1))",
		"renewal of five, one of them lost",
		[]string{"java only:     order:17-000 of OWNER1: int 1 after hexists order:17-000 OWNER1 after pexpire order:17-000 3000",
			"go only:       order:17-000 of OWNER1: int 1 after hexists order:17-000 OWNER1 after expire order:17-000 4"},
	}, {
		"no TTL for the refused", "lock", "return redis.call('pttl', KEYS[1])", "return 1", "spin: contended try",
		[]string{"lock of order:17, differ", "java only:     pttl order:17"},
	}, {
		"a message to nobody", "spin: unlock", "call('del', lock)", "call('del', lock)\n  call('publish', 'redisson_lock__channel:{' .. lock .. '}', '0')",
		"spin: final unlock",
		[]string{"unlock of order:17, differ", "go only:       publish redisson_lock__channel:{order:17} 0", "messages differ"},
	}, {
		"no latch", "spin: unlock", "call('set', latch, result, 'px', ARGV[3])", "", "spin: partial unlock",
		[]string{"unlock of order:17, differ", "java only:     set redisson_unlock_latch:{order:17}:LATCH1 0 px LATCHTIME",
			"DEL of redisson_unlock_latch:{order:17}:LATCH1, differ"},
	}, {
		"no new lease for the holds that are left", "spin: unlock", "call('pexpire', lock, ARGV[1])", "", "spin: partial unlock",
		[]string{"unlock of order:17, differ", "java only:     pexpire order:17 600000"},
	}, {
		"a re-entry without a number", "fenced: lock", "local token = call('incr', tokens)",
		"local token = tonumber(call('get', KEYS[2]) or 0)\nif call('exists', lock) == 0 then token = call('incr', KEYS[2]) end", "fenced: re-entry",
		[]string{"lock of order:17, differ", "java only:     incr redisson_lock_token:{order:17}", "keys left differ"},
	}, {
		"numbers that expire", "fenced: lock", "return {token}", "call('pexpire', KEYS[2], ARGV[1])\nreturn {token}", "fenced: first acquire",
		[]string{"lock of order:17, differ", "go only:       pexpire redisson_lock_token:{order:17} 600000", "keys left differ"},
	}, {
		"a number for who is refused", "fenced: lock", "return call('pttl', lock)", "call('incr', KEYS[2])\nreturn call('pttl', lock)", "fenced: contended try",
		[]string{"lock of order:17, differ", "go only:       incr redisson_lock_token:{order:17}", "keys left differ"},
	}, {
		"a re-entry that is counted", "nonreentrant: lock", "return redis.status_reply(ARGV[3])",
		"call('hincrby', lock, owner, 1)\nreturn redis.status_reply(ARGV[3])", "nonreentrant: re-entry",
		[]string{"lock of order:17, differ", "go only:       hincrby order:17 OWNER1 1", "keys left differ"},
	}, {
		"another command", "spin: force", "'del'", "'unlink'", "spin: force unlock of a locked one",
		[]string{"force of order:17, differ", "java only:     del order:17", "go only:       unlink order:17"},
	},
}

// TestAWrongScriptIsCaught has the server run each wrong script for the library. The report must name the wrong call.
func TestAWrongScriptIsCaught(t *testing.T) {
	t.Parallel()
	benches := newBenches(t)
	recorded := map[string]trace{}
	for _, wrong := range wrongScripts {
		t.Run(wrong.role+" with "+wrong.name, func(t *testing.T) {
			altered := Alter(t, wrong.role, wrong.old, wrong.new)
			sc := scenarioNamed(t, wrong.scenario)
			b := benches.on(t, sc)
			java, ok := recorded[sc.name]
			if !ok {
				java = b.playJava(sc)
				recorded[sc.name] = java
			}
			report := difference(sc, java, b.playGo(sc, rlock.PublishBoth, altered))
			for _, line := range wrong.caught {
				if !strings.Contains(report, line) {
					t.Errorf("the report lacks %q:\n%s", line, report)
				}
			}
		})
	}
}

// TestTheSameScriptIsNotCaught shows that it is the script that is caught above, not the connection that calls it.
func TestTheSameScriptIsNotCaught(t *testing.T) {
	t.Parallel()
	sc := scenarioNamed(t, "final unlock")
	b := newBenches(t).on(t, sc)
	if report := difference(sc, b.playJava(sc), b.playGo(sc, rlock.PublishBoth, Altered{"unlock", sources["unlock"].Source})); report != "" {
		t.Errorf("the traces differ:\n%s", report)
	}
}

func TestAnUnheardOfCommandIsCaught(t *testing.T) {
	t.Parallel()
	sc := scenarioNamed(t, "first acquire")
	b := newBenches(t).on(t, sc)
	java := b.playJava(sc)
	// The server knows the first only, and MONITOR shows the first only.
	for _, command := range []string{"TOUCH", "FLY"} {
		more := sc
		more.before = func(s *goSide, n string) {
			conn, err := redis.Dial("tcp", s.proxies[0].Addr())
			if err != nil {
				s.Fatal(err)
			}
			defer conn.Close()
			conn.Do(command, n)
		}
		if report := difference(sc, java, b.playGo(more, rlock.PublishBoth)); !strings.Contains(report, command+" order:17") {
			t.Errorf("%s is not reported:\n%s", command, report)
		}
	}
}

// TestAPlainLockInASpinLocksPlaceIsCaught: a client that took one kind for the other would exclude; how it waits shows it.
func TestAPlainLockInASpinLocksPlaceIsCaught(t *testing.T) {
	t.Parallel()
	sc := scenarioNamed(t, "spin: wait ended by an unlock")
	b := newBenches(t).on(t, sc)
	java := b.playJava(sc)
	other := sc
	other.before = func(s *goSide, _ string) { s.kind = javapeer.Plain }
	report := difference(sc, java, b.playGo(other, rlock.PublishBoth))
	for _, line := range []string{"go  : SUBSCRIBE redisson_lock__channel:{order:17}", "go only:       publish redisson_lock__channel:{order:17} 0", "messages differ"} {
		if !strings.Contains(report, line) {
			t.Errorf("the report lacks %q:\n%s", line, report)
		}
	}
}

func TestAnUnusedJustificationIsCaught(t *testing.T) {
	t.Parallel()
	sc := scenarioNamed(t, "first acquire")
	b := newBenches(t).on(t, sc)
	java, golang := b.playJava(sc), b.playGo(sc, rlock.PublishBoth)
	for _, j := range justified {
		if _, unused := compare(java, golang, []rule{j.rule}); !slices.Equal(unused, []string{j.rule.name}) {
			t.Errorf("%q: unused are %q", j.rule.name, unused)
		}
	}
}

func newBenches(t *testing.T) *benches {
	return &benches{t: t, version: javapeer.Newest, by: map[time.Duration]*bench{}}
}

func difference(sc scenario, java, golang trace) string {
	var rules []rule
	for _, j := range justifiedFor(sc, setting{version: javapeer.Newest}) {
		rules = append(rules, j.rule)
	}
	report, _ := compare(java, golang, rules)
	return report
}

func scenarioNamed(t *testing.T, name string) scenario {
	t.Helper()
	for _, sc := range scenarios {
		if sc.name == name {
			sc.firstUse = false
			return sc
		}
	}
	t.Fatalf("there is no scenario %q", name)
	panic("unreachable")
}
