package hostile

import (
	"slices"
	"strings"

	"github.com/rlock-go/redisson/internal/luasrc"
)

// place is a command at which the server misbehaves each time.
type place struct {
	where string
	at    func(cmd []string) bool
	// victim is the call that must fail; empty if the command serves no call, or if its failure costs no call anything.
	victim string
	// bears tells which sorts of answers the victim survives, in addition to the misdeeds named in fine.
	bears func(sort) bool
	fine  []string
}

func words(w ...string) func([]string) bool {
	return func(cmd []string) bool {
		return len(cmd) >= len(w) && slices.EqualFunc(cmd[:len(w)], w, strings.EqualFold)
	}
}

func script(s *luasrc.Script) func([]string) bool { return words("EVALSHA", s.SHA1) }

// locks matches an acquire, also one that is sent again.
func locks(cmd []string) bool {
	return script(luasrc.LockScript)(cmd) || script(luasrc.LockAgainScript)(cmd)
}

// nothing: any wrong answer fails the victim.
func nothing(sort) bool { return false }

// refusals: the client uses a server that refuses the command.
func refusals(s sort) bool { return s == refusal }

// anyReply: only an answer that breaks the connection fails the victim.
func anyReply(s sort) bool { return s != deadly }

var places = []place{
	{"AUTH", words("AUTH"), "Open", nothing, nil},
	{"SELECT", words("SELECT"), "Open", nothing, nil},
	{"CLIENT SETNAME", words("CLIENT", "SETNAME"), "Open", nothing, nil},
	{"CLIENT ID", words("CLIENT", "ID"), "Open", refusals, []string{"an integer", "a negative integer", "an integer beyond 64 bits"}},
	{"CLIENT INFO", words("CLIENT", "INFO"), "Open", refusals, []string{"a bulk string"}},
	{"HELLO", words("HELLO"), "Open", refusals, []string{"an empty array", "an array of integers"}},
	{"ROLE", words("ROLE"), "Open", refusals, nil},
	{"INFO", words("INFO"), "Open", refusals, []string{"a bulk string"}},
	{"PING", words("PING"), "Open", nothing, nil},
	{"SCRIPT LOAD", words("SCRIPT", "LOAD"), "Lock", nothing, nil},
	{"lock", locks, "Lock", nothing, []string{"nil", "a nil array"}},
	{"WAIT", words("WAIT"), "Lock", anyReply, nil},
	{"renew", script(luasrc.RenewScript), "Extend", nothing, nil},
	{"unlock", script(luasrc.UnlockToScript), "Do", nothing, nil},
	{"unlock with a latch", script(luasrc.UnlockScript), "Unlock", nothing, nil},
	{"force unlock", script(luasrc.ForceUnlockScript), "ForceUnlock", nothing, nil},
	{"TYPE", words("TYPE"), "ForceUnlock", nothing, nil},
	{"EXISTS", words("EXISTS"), "IsLocked", nothing, nil},
	{"HEXISTS", words("HEXISTS"), "IsHeldBy", nothing, nil},
	{"HGET", words("HGET"), "HoldCount", nothing, []string{"nil", "a nil array"}},
	{"PTTL", words("PTTL"), "RemainTTL", nothing, []string{"an integer", "an integer beyond 64 bits"}},
	{"info", script(luasrc.InfoScript), "Info", nothing, nil},
	{"PUBSUB", words("PUBSUB"), "Info", refusals, []string{"an array of integers"}},
	{"DEL", words("DEL"), "", anyReply, nil},
	{"SUBSCRIBE", words("SUBSCRIBE"), "", anyReply, nil},
	{"UNSUBSCRIBE", words("UNSUBSCRIBE"), "", anyReply, nil},
}

// fails tells whether the place's victim must fail with this misdeed.
func (p place) fails(m misdeed) bool {
	return p.victim != "" && !p.bears(m.sort) && !slices.Contains(p.fine, m.what)
}
