package wire

import (
	"slices"
	"strconv"
	"strings"

	"github.com/rlock-go/redisson/integration/kit/testbed"
)

// dropLoads takes out what a script costs when the server does not know it: the answer NOSCRIPT and one SCRIPT LOAD. A
// LOAD that no NOSCRIPT asked for stays.
func dropLoads(steps []step) []step {
	unknown := map[string]int{}
	return slices.DeleteFunc(slices.Clone(steps), func(s step) bool {
		switch {
		case strings.HasPrefix(s.reply, "error NOSCRIPT "):
			unknown[s.role]++
			return true
		case s.role == "SCRIPT LOAD" && unknown[s.name] > 0:
			unknown[s.name]--
			return true
		}
		return false
	})
}

// splitDels makes one DEL a latch of one that deletes several: how many share a DEL depends on what else is on its way.
// A reply that is not the sum of what each unlock left stays whole, and is seen.
func splitDels(events []event) []event {
	kept := map[string]int64{}
	var out []event
	for _, e := range events {
		if latch := e.latch(); latch != "" && e.reply != nil {
			kept[latch] = 1
		}
		var sum int64
		latches := true
		for _, w := range e.words[1:] {
			sum += kept[w]
			latches = latches && latchForm.MatchString(w)
		}
		if !e.is("DEL") || len(e.words) < 3 || !latches || e.reply != sum {
			out = append(out, e)
			continue
		}
		for _, w := range e.words[1:] {
			out = append(out, event{cmd: command([]string{"DEL", w}), reply: kept[w]})
		}
	}
	return out
}

// gather moves what another connection or a later batch does to the place it belongs to: a latch's DEL behind its
// unlock, an UNSUBSCRIBE behind the last attempt before it. Nothing moves to a later place.
func gather(steps []step) []step {
	var out []step
	for _, s := range steps {
		at := len(out)
		for i, before := range slices.Backward(out) {
			if s.role == "DEL" && before.role == "unlock" && (strings.Contains(before.head, " "+s.name+" ") || meant(s, before)) ||
				(s.role == "UNSUBSCRIBE" || s.role == "SUNSUBSCRIBE") && before.role == "lock" && channelOf(before.name) == s.name {
				at = i + 1
				break
			}
		}
		out = slices.Insert(out, at, s)
	}
	return out
}

// meant tells whether a DEL of no latch was meant to be that of an unlock's: Redisson 3.52 deletes a key that is named after
// the client where the latch is named after the call.
func meant(del, unlock step) bool {
	latch, ok := strings.CutSuffix(strings.Trim(del.name, `"`), ":CLIENT")
	return ok && strings.Contains(unlock.head, latch+":LATCH")
}

// channelOf is the channel, as it is printed, of a key, as it is printed.
func channelOf(name string) string {
	plain, err := strconv.Unquote(name)
	if err != nil {
		return channel(name)
	}
	return strconv.Quote(channel(plain))
}

// channel is Redisson's name for a lock's channel. The proof does not rely on the library's.
var channel = testbed.Channel
