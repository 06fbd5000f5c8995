package simulation

import (
	"crypto/sha1"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/rlock-go/redisson/internal/luasrc"
	"github.com/rlock-go/redisson/rlocktest/simredis"
)

// scripts are the names of the library's scripts by their SHA-1.
var scripts = func() map[string]string {
	names := map[string]string{}
	for _, s := range luasrc.Scripts() {
		names[s.SHA1] = s.Name
	}
	return names
}()

// scriptOf is the name of the library's script that a command runs. Where an account may not load scripts, the client sends the text.
func scriptOf(args []string) string {
	switch {
	case len(args) < 2:
		return ""
	case args[0] == "EVALSHA":
		return scripts[args[1]]
	case args[0] == "EVAL":
		digest := sha1.Sum([]byte(args[1]))
		return scripts[hex.EncodeToString(digest[:])]
	}
	return ""
}

// traffic counts what one host has sent.
type traffic struct {
	connections int
	scripts     int // of the library's
	calls       int // that its callers made
	latches     map[string]*repeats
	listens     map[string]time.Time // since when it does to an object's channels, as of its last subscription
}

// repeats counts how often one unlock ran.
type repeats struct {
	ran, connections, promotions int
	since                        time.Time
}

// These bound how often one unlock runs: so often anyway, and for each connection of its host
// and each failover since, and for each second, because an undo is repeated each second.
const (
	repeatsAnyway    = 4
	repeatsForOne    = 2
	repeatsPerSecond = 2
)

// judgeTraffic judges one command. A repetition that doubles is a violation long before it hurts.
func (p *play) judgeTraffic(host string, args []string, reply any) {
	t := p.traffic[host]
	if t == nil {
		t = &traffic{latches: map[string]*repeats{}, listens: map[string]time.Time{}}
		p.traffic[host] = t
	}
	p.res.Commands++
	_, refused := reply.(simredis.Error)
	script := scriptOf(args)
	if script != "" {
		t.scripts++
	}
	switch {
	case args[0] == "CLIENT" && args[1] == "ID":
		t.connections++
	case args[0] == "SUBSCRIBE", args[0] == "SSUBSCRIBE":
		p.subscribed(t, args[1:])
	case script != "" && !refused && script != "semaphore_acquire": // whose refused tries have one receipt
		if latch := latchIn(args); latch != "" {
			p.judgeRepeats(t, host, latch)
		}
	}
}

// These bound how many scripts a client runs while nothing breaks: some for each call, each second for a waiter that looks, and for each
// entry of whoever it is, since all waiters are woken when he leaves.
const (
	scriptsForOne    = 4
	scriptsPerSecond = 2
	scriptsForEntry  = 1
)

// judgeScripts judges how many scripts the clients of a calm play have run. A spinning waiter tries as often as its pauses let it.
func (p *play) judgeScripts() {
	if !p.calm() || slices.ContainsFunc(p.Objects, func(o Object) bool { return o.Kind == Spin }) {
		return
	}
	for _, proc := range p.processes {
		t, most := p.traffic[proc.host], int(scriptsPerSecond*time.Since(p.begun).Seconds())+scriptsForEntry*p.res.Entries
		if most += t.calls * scriptsForOne; t.scripts > most {
			p.violate("flood: %s ran %d scripts for %d calls in %v, and %d are enough", proc.host, t.scripts, t.calls, time.Since(p.begun), most)
		}
	}
}

// judgeRepeats judges how often one unlock ran. A new connection, and a failover, bring it once more.
func (p *play) judgeRepeats(t *traffic, host, latch string) {
	r := t.latches[latch]
	if r == nil {
		r = &repeats{connections: t.connections, promotions: p.promotions, since: time.Now()}
		t.latches[latch] = r
	}
	r.ran++
	since := t.connections - r.connections + p.promotions - r.promotions
	if r.ran > repeatsAnyway+repeatsForOne*since+int(repeatsPerSecond*time.Since(r.since).Seconds()) {
		p.violate("flood: %s ran the unlock with %s %d times in %v, with %d new connections and failovers", host, latch, r.ran, time.Since(r.since), since)
		r.ran = -1 << 20 // once
	}
}

const latchPrefix = "redisson_unlock_latch:"

// latchIn returns the key among a script's that names one unlock.
func latchIn(args []string) string {
	for _, key := range args[3:min(3+int(number(args[2])), len(args))] {
		if strings.HasPrefix(key, latchPrefix) {
			return key
		}
	}
	return ""
}
