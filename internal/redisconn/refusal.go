package redisconn

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/gomodule/redigo/redis"
)

// Refusal is an error that a server answered. The zero Refusal is none: all its
// methods that return a bool return false.
type Refusal struct {
	text   string // as the server sent it
	said   string // text without the place in a script
	inside bool   // a command inside a script failed; the script may have run in part
}

// RefusalOf finds the server's error in err. It returns the zero Refusal and false if err
// is nil or no server's answer.
func RefusalOf(err error) (Refusal, bool) {
	re, ok := errors.AsType[redis.Error](err)
	if !ok {
		return Refusal{}, false
	}
	r := Refusal{text: string(re)}
	r.said, r.inside = saidInside(r.text)
	return r, true
}

// IsRefusal tells whether err is a server's answer, not an error of the connection.
func IsRefusal(err error) bool {
	_, ok := RefusalOf(err)
	return ok
}

// Text is the text that the server sent.
func (r Refusal) Text() string { return r.text }

// Code is the first word of the error, such as READONLY; of a script's error, the first
// word of the error that it met.
func (r Refusal) Code() string {
	code, _, _ := strings.Cut(r.said, " ")
	return code
}

// is tells whether the code is one of codes.
func (r Refusal) is(codes ...string) bool { return slices.Contains(codes, r.Code()) }

// Transient tells whether the reason passes by itself: the server is loading its
// data, busy with a script, between two masters, or has too few replicas for now; or
// somebody has killed the script. Nothing of the command ran.
func (r Refusal) Transient() bool {
	return r.is("LOADING", "MASTERDOWN", "BUSY", "TRYAGAIN", "CLUSTERDOWN", "NOREPLICAS") ||
		r.inside && strings.Contains(r.said, "Script killed by user with SCRIPT KILL") // the server kills only a script that has not written anything yet
}

// Passing tells whether the reason passes by itself, or ends by a failover or a
// clean-up. A caller that waits anyway should retry; one that tries once should
// not. Nothing of the command ran.
func (r Refusal) Passing() bool {
	return r.Transient() || r.is("READONLY", "NOSCRIPT", "OOM", "MISCONF")
}

// Redirects tells whether the command met the wrong server or connection, so that
// the topology has to say where it goes. Nothing of the command ran.
func (r Refusal) Redirects() bool {
	return r.EndsConnection() || !r.inside && r.is("MOVED", "ASK", "TRYAGAIN", "CLUSTERDOWN")
}

// Elsewhere tells whether another node serves the command's slot, or has its keys.
func (r Refusal) Elsewhere() bool {
	_, moved := r.Moved()
	_, ask := r.Ask()
	return moved || ask
}

// Scatters tells whether not all of the command's keys are where it was sent.
func (r Refusal) Scatters() bool {
	return r.Elsewhere() || !r.inside && r.is("TRYAGAIN", "CROSSSLOT")
}

// Redirect is where a node of a cluster says that a slot is served.
type Redirect struct {
	Slot uint16 // the command's
	Addr string // host:port; the host may be empty or unknown to the node
}

// Moved tells whether another node serves the slot from now on, and which.
func (r Refusal) Moved() (Redirect, bool) { return r.place("MOVED") }

// Ask tells whether another node has the command's keys already, while their slot
// is being moved there, and which. That node runs the command directly after ASKING.
func (r Refusal) Ask() (Redirect, bool) { return r.place("ASK") }

// Unsettled tells whether, for now, the slot's keys are in two places or no node
// serves the slot.
func (r Refusal) Unsettled() bool {
	return !r.inside && r.is("TRYAGAIN", "CLUSTERDOWN")
}

// Split tells whether the command's keys are in two places while their slot is being
// moved. A command with one key never gets this answer.
func (r Refusal) Split() bool { return !r.inside && r.Code() == "TRYAGAIN" }

// Lacks tells whether one of this library's scripts did nothing because its server lacks keys that
// it may not make while the slot is being moved. which is the script's word for them.
func (r Refusal) Lacks() (which string, ok bool) {
	if !r.Split() {
		return "", false
	}
	_, which, ok = strings.Cut(r.said, "of a slot that is on its way: ")
	return which, ok
}

// MetElsewhere tells whether a script used a key that the server does not have while the
// slot is being moved. What the script did before that stands.
func (r Refusal) MetElsewhere() bool {
	return r.inside && strings.Contains(r.said, "attempted to access a non local key")
}

// place reads an answer such as "MOVED 3999 127.0.0.1:6381".
func (r Refusal) place(code string) (Redirect, bool) {
	words := strings.Fields(r.said)
	if r.inside || len(words) < 3 || words[0] != code {
		return Redirect{}, false
	}
	slot, err := strconv.ParseUint(words[1], 10, 14)
	if err != nil {
		return Redirect{}, false
	}
	return Redirect{uint16(slot), words[2]}, true
}

// ReadOnly tells whether the server is a replica.
func (r Refusal) ReadOnly() bool { return r.Code() == "READONLY" }

// EndsConnection tells whether the command may succeed on another connection: this one's
// server is a replica, or no longer accepts this one's credentials. Nothing of the command
// ran.
func (r Refusal) EndsConnection() bool { return r.ReadOnly() || r.NoAuth() }

// NoAuth tells whether the server wants credentials. If the connection gave them before,
// the server has withdrawn its login.
func (r Refusal) NoAuth() bool { return !r.inside && r.Code() == "NOAUTH" }

// WrongType tells whether a key has a type that the command is not for. Nothing ran.
func (r Refusal) WrongType() bool { return r.is("WRONGTYPE") }

// Demoted tells whether the server became a replica during a WAIT, or just before it. So it
// gave no acknowledgements.
func (r Refusal) Demoted() bool {
	return r.Code() == "UNBLOCKED" || !r.inside && strings.HasPrefix(r.said, "ERR WAIT cannot be used with replica")
}

// NoScript tells whether the server does not know the script. Nothing ran.
func (r Refusal) NoScript() bool { return r.Code() == "NOSCRIPT" }

// NotAllowed tells whether the command was refused before any of it ran, because
// the account may not send it, or not with these keys, or because the server has
// no such command. It is false for a script that meets such an error inside, since
// that script may have run in part.
func (r Refusal) NotAllowed() bool {
	return !r.inside && (strings.HasPrefix(r.said, "NOPERM ") || r.Unknown())
}

// Forbidden tells whether the account may not send the command or, if it is a script, one that the
// script calls. A script may have run in part.
func (r Refusal) Forbidden() bool {
	return r.NotAllowed() || r.inside && (r.is("NOPERM") ||
		strings.Contains(r.said, "ACL failure in script") || strings.Contains(r.said, "can't run this command"))
}

// Unknown tells whether the server has no such command.
func (r Refusal) Unknown() bool {
	const unknown = "ERR unknown "
	return !r.inside && len(r.said) >= len(unknown) && strings.EqualFold(r.said[:len(unknown)], unknown)
}

// NoCluster tells whether the server has no cluster mode, or none of its commands.
func (r Refusal) NoCluster() bool {
	return r.Unknown() || strings.Contains(r.text, "cluster support disabled")
}

// NothingRan tells whether the command changed nothing. A script that met an error inside
// may have run in part, unless the error came before its first write. These errors do: the
// server checks its state, such as its memory, at a script's first write, and the scripts
// of this library read the keys that they change before that.
func (r Refusal) NothingRan() bool {
	return r.NotAllowed() || r.Passing() || r.WrongType() || r.is("NOAUTH", "MOVED", "ASK", "CROSSSLOT") ||
		strings.Contains(r.said, "is not an integer") || strings.Contains(r.said, "would overflow") // met at a script's first write
}

// OfConnection tells whether connecting again with the same settings would meet
// the same refusal: wrong credentials, a missing permission, a database that does
// not exist.
func (r Refusal) OfConnection() bool {
	return slices.ContainsFunc([]string{
		"WRONGPASS", "NOAUTH", "NOPERM", "DENIED", "ERR AUTH", "ERR Client sent AUTH",
		"ERR invalid password", "ERR invalid DB index", "ERR DB index",
	}, func(begin string) bool { return strings.HasPrefix(r.text, begin) })
}

// Unannounced tells whether the answer is no refusal but that of one of this library's scripts,
// which ran in full with this result, and could not publish its change because of why.
func (r Refusal) Unannounced() (result int64, why error, ok bool) {
	words := strings.SplitN(r.text, " ", 3)
	if len(words) < 3 || words[0] != "UNTOLD" {
		return 0, nil, false
	}
	result, err := strconv.ParseInt(words[1], 10, 64)
	return result, redis.Error(words[2]), err == nil
}

// saidInside reports whether a command inside a script met the error, and returns
// its text without the place in the script:
//
//	Redis 6.2    ERR Error running script (call to f_SHA): @user_script:1: [@user_script: 1: ][-]OOM command not allowed
//	7.0 and on   OOM command not allowed script: SHA, on @user_script:1.
func saidInside(answer string) (said string, inside bool) {
	said = answer
	if rest, old := strings.CutPrefix(said, "ERR Error running script (call to f_"); old {
		if _, rest, old = strings.Cut(rest, "): "); old {
			for strings.HasPrefix(rest, "@user_script:") {
				_, after, ok := strings.Cut(rest[len("@user_script:"):], ": ")
				if !ok {
					break
				}
				rest = after
			}
			return strings.TrimPrefix(rest, "-"), true
		}
	}
	at := strings.LastIndex(said, " script: ")
	return said, at >= 0 && strings.Contains(said[at:], ", on @user_script:")
}
