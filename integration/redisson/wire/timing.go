package wire

import (
	"slices"
	"strconv"
	"strings"

	"github.com/rlock-go/redisson/integration/kit/testbed"
)

// dropLoads removes a script call whose reply is NOSCRIPT, and one SCRIPT LOAD for it. A LOAD without a NOSCRIPT stays.
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

// splitDels splits a DEL of several latches into one for each: how many share a DEL depends on timing. A reply that is not
// the sum of what each unlock left stays whole, and is seen.
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

// gather moves commands of another connection or a later batch to their place: a latch's DEL after its unlock, an
// UNSUBSCRIBE after the last attempt before it. Nothing moves to a later place.
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

// meant reports whether a DEL misses the latch of an unlock: Redisson 3.52 deletes a key that is named after the client,
// where the latch is named after the call.
func meant(del, unlock step) bool {
	latch, ok := strings.CutSuffix(strings.Trim(del.name, `"`), ":CLIENT")
	return ok && strings.Contains(unlock.head, latch+":LATCH")
}

// channelOf returns a key's channel, both as they are printed.
func channelOf(name string) string {
	plain, err := strconv.Unquote(name)
	if err != nil {
		return channel(name)
	}
	return strconv.Quote(channel(plain))
}

// channel is Redisson's name for a lock's channel. The proof does not rely on the library's.
var channel = testbed.Channel
