package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rlock-go/redisson/integration/faultproxy"
	"github.com/rlock-go/redisson/internal/luasrc"
)

// wire is a command that passed a client's proxy, as far as it concerns locks.
type wire struct {
	what           string // one of commands, or the command's name
	owners         []string
	lease          int64 // what it sets, in nanoseconds; 0: nothing
	sent, answered int64 // answered is 0 while the server has not answered
	reply          any
	latch          string // of an unlock, or what else its repetitions have in common
	again          bool   // an unlock that may have run before: then nothing is set
	did            faultproxy.Action
	conn           int
}

func (w wire) over(owner string) bool {
	for _, o := range w.owners {
		if o == owner {
			return true
		}
	}
	return false
}

func (w wire) unlocks() bool { return w.what == unlock || w.what == unlockOnce }

// refused tells a reply "taken", with the key's TTL.
func (w wire) refused() bool {
	_, number := w.reply.(int64)
	return w.what == acquire && w.answered != 0 && number && w.did != faultproxy.Answer
}

// sets tells whether it has set a lease, or may have, or may yet.
func (w wire) sets() bool {
	if w.lease == 0 || w.did == faultproxy.Answer || w.did == faultproxy.CutBefore || w.did == faultproxy.Blackhole {
		return false
	}
	if w.answered == 0 {
		return true
	}
	switch reply := w.reply.(type) {
	case faultproxy.Error:
		return false
	case int64:
		return w.unlocks() && reply == 0
	case nil:
		return w.what == acquire
	}
	return true
}

func (w wire) String() string {
	if w.did == faultproxy.Answer {
		return fmt.Sprintf("conn %d %s %v: refused by the proxy", w.conn, w.what, shorts(w.owners))
	}
	answered := "unanswered"
	if w.answered != 0 {
		answered = fmt.Sprintf("%s after %.1f ms", brief(w.reply), float64(w.answered-w.sent)/1e6)
	}
	did := ""
	if w.did != 0 {
		did = " [" + w.did.String() + "]"
	}
	return fmt.Sprintf("conn %d %s %v lease %d ms: %s%s", w.conn, w.what, shorts(w.owners), w.lease/ms, answered, did)
}

// brief shows a reply, cut to what tells something.
func brief(reply any) string {
	text := fmt.Sprint(reply)
	return text[:min(len(text), 100)]
}

func shorts(owners []string) (all []string) {
	for _, o := range owners {
		all = append(all, short(o))
	}
	return all
}

// record is what passed the client's proxy, in the order of arrival.
func (c *client) record() []wire {
	var all []wire
	ran := map[string]bool{}
	for _, e := range c.proxy.Record() {
		w := read(e)
		if w.latch != "" {
			w.again = ran[w.latch]
			ran[w.latch] = w.again || w.sets()
		}
		all = append(all, w)
	}
	return all
}

func read(e faultproxy.Exchange) wire {
	w := wire{what: "message", sent: instant(e.Sent), answered: instant(e.Answered), reply: e.Reply, did: e.Did, conn: e.Conn}
	if len(e.Cmd) == 0 {
		return w
	}
	w.what = strings.ToUpper(e.Cmd[0])
	for _, c := range commands {
		if c.match(e.Cmd) {
			w.what = c.name
		}
	}
	if !strings.HasPrefix(strings.ToUpper(e.Cmd[0]), "EVAL") || len(e.Cmd) < 3 {
		return w
	}
	n, err := strconv.Atoi(e.Cmd[2])
	if err != nil || len(e.Cmd) < 3+n+2 {
		return w
	}
	args := e.Cmd[3+n:]
	switch w.what {
	case acquire:
		w.lease, w.owners = millis(args[0]), args[1:2]
	case renewal:
		w.lease, w.owners = millis(args[0]), args[1:]
	case unlock:
		w.lease, w.owners, w.latch = millis(args[1]), args[2:3], e.Cmd[5]
	case unlockOnce:
		w.lease, w.owners, w.latch = millis(args[1]), args[2:3], args[2]
	}
	return w
}

func millis(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0
	}
	return n * ms
}

// The commands that faults are about.
const (
	acquire    = "acquire"
	renewal    = "renewal or Extend"
	unlock     = "unlock"
	unlockOnce = "unlock without latch"
	force      = "force"
	kill       = "CLIENT KILL"
	subscribe  = "SUBSCRIBE"
	latchDEL   = "latch DEL"
	hget       = "HGET"
	hexists    = "HEXISTS"
	pttl       = "PTTL"
)

type command struct {
	name  string
	match faultproxy.Match
}

var commands = []command{
	{acquire, faultproxy.Script(luasrc.LockScript.SHA1)},
	{renewal, faultproxy.Script(luasrc.RenewScript.SHA1)},
	{unlock, faultproxy.Script(luasrc.UnlockScript.SHA1)},
	{unlockOnce, faultproxy.Script(luasrc.UnlockOnceScript.SHA1)},
	{force, faultproxy.Script(luasrc.ForceUnlockScript.SHA1)},
	{kill, faultproxy.Command("client", "kill")},
	{subscribe, faultproxy.Command("subscribe")},
	{latchDEL, faultproxy.Command("del")},
	{hget, faultproxy.Command("hget")},
	{hexists, faultproxy.Command("hexists")},
	{pttl, faultproxy.Command("pttl")},
}

func matching(name string) faultproxy.Match {
	for _, c := range commands {
		if c.name == name {
			return c.match
		}
	}
	panic("endurance: no such command: " + name)
}
