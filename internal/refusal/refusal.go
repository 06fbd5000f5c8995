package refusal

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/gomodule/redigo/redis"
)

// Refusal is an error that a server answered. The zero Refusal is none: every
// question about it is answered with false.
type Refusal struct {
	text   string // as the server sent it
	said   string // without the place in a script
	inside bool   // a script met it, and may have run in part
}

// Of finds the server's error in err. It is the zero Refusal, and false, where
// err is nil or something else than a server's answer.
func Of(err error) (Refusal, bool) {
	re, ok := errors.AsType[redis.Error](err)
	if !ok {
		return Refusal{}, false
	}
	r := Refusal{text: string(re)}
	r.said, r.inside = saidInside(r.text)
	return r, true
}

// New is the error of a server that answered this.
func New(text string) error { return redis.Error(text) }

// Is tells an error that a server answered from one of the connection.
func Is(err error) bool {
	_, ok := Of(err)
	return ok
}

// Text is what the server sent.
func (r Refusal) Text() string { return r.text }

// Code is the first word of what was said, such as READONLY.
func (r Refusal) Code() string {
	code, _, _ := strings.Cut(r.said, " ")
	return code
}

// is tells that the code is one of these.
func (r Refusal) is(codes ...string) bool { return slices.Contains(codes, r.Code()) }

// Transient tells a refusal that passes by itself: the server is loading its
// data, busy with a script, between two masters, or has too few replicas for now.
// Nothing of the command ran.
func (r Refusal) Transient() bool {
	return r.is("LOADING", "MASTERDOWN", "BUSY", "TRYAGAIN", "CLUSTERDOWN", "NOREPLICAS")
}

// Passing tells a refusal that passes by itself, or that a failover or a
// clean-up ends. It is worth waiting out for a caller that waits anyway, not
// for one that asks once. Nothing of the command ran.
func (r Refusal) Passing() bool {
	return r.Transient() || r.is("READONLY", "NOSCRIPT", "OOM", "MISCONF")
}

// Redirects tells an answer to where a command was sent, not to what it is:
// what becomes of it is for the topology to say. Nothing of the command ran.
func (r Refusal) Redirects() bool {
	return r.EndsConnection() || !r.inside && r.is("MOVED", "ASK", "TRYAGAIN", "CLUSTERDOWN")
}

// Elsewhere tells that another node serves the command's slot.
func (r Refusal) Elsewhere() bool {
	_, moved := r.Moved()
	_, ask := r.Ask()
	return moved || ask
}

// Scatters tells that the command's keys are not all where it was sent.
func (r Refusal) Scatters() bool {
	return r.Elsewhere() || !r.inside && r.is("TRYAGAIN", "CROSSSLOT")
}

// Place is where a node of a cluster says that a slot is served.
type Place struct {
	Slot uint16 // the command's
	Addr string // host:port; the host may be empty or unknown to the node
}

// Moved tells that another node serves the slot from now on.
func (r Refusal) Moved() (Place, bool) { return r.place("MOVED") }

// Ask tells that another node has this command's keys already, while their
// slot is being moved to it. It runs the command directly behind ASKING.
func (r Refusal) Ask() (Place, bool) { return r.place("ASK") }

// Unsettled tells that the slot's keys are in two places, or that nobody
// serves the slot, for now.
func (r Refusal) Unsettled() bool {
	return !r.inside && r.is("TRYAGAIN", "CLUSTERDOWN")
}

// Split tells that the command's keys are in two places while their slot is being
// moved. A command of one key is never told that.
func (r Refusal) Split() bool { return !r.inside && r.Code() == "TRYAGAIN" }

// MetElsewhere tells that a script met a key that the server does not have while the
// slot is being moved. What it did before stands.
func (r Refusal) MetElsewhere() bool {
	return r.inside && strings.Contains(r.said, "attempted to access a non local key")
}

// place reads an answer such as "MOVED 3999 127.0.0.1:6381".
func (r Refusal) place(code string) (Place, bool) {
	words := strings.Fields(r.said)
	if r.inside || len(words) < 3 || words[0] != code {
		return Place{}, false
	}
	slot, err := strconv.ParseUint(words[1], 10, 14)
	if err != nil {
		return Place{}, false
	}
	return Place{uint16(slot), words[2]}, true
}

// ReadOnly tells that the server is a replica.
func (r Refusal) ReadOnly() bool { return r.Code() == "READONLY" }

// EndsConnection tells that another connection may be answered better: this one's
// server is a replica, or does not know this one's account any more. Nothing of the
// command ran.
func (r Refusal) EndsConnection() bool { return r.ReadOnly() || r.NoAuth() }

// NoAuth tells that the server wants credentials. A connection that had given them
// was taken them from.
func (r Refusal) NoAuth() bool { return !r.inside && r.Code() == "NOAUTH" }

// WrongType tells that a key is none of the kind that the command is for. Nothing ran.
func (r Refusal) WrongType() bool { return r.is("WRONGTYPE") }

// Unblocked tells that the server became a replica while the command, WAIT,
// waited: what it waited for has not come about.
func (r Refusal) Unblocked() bool { return r.Code() == "UNBLOCKED" }

// NoScript tells that the server does not know the script. Nothing ran.
func (r Refusal) NoScript() bool { return r.Code() == "NOSCRIPT" }

// NotAllowed tells a command that was refused before any of it ran, because
// the account may not send it, or not with these keys, or because the server
// has no such command. A script that meets the same inside may have run in
// part.
func (r Refusal) NotAllowed() bool {
	const unknown = "ERR unknown "
	return !r.inside && (strings.HasPrefix(r.said, "NOPERM ") ||
		len(r.said) >= len(unknown) && strings.EqualFold(r.said[:len(unknown)], unknown))
}

// NothingRan tells that the command changed nothing. A script may have run in part that met
// an error inside, unless that came before its first write: the server asks for its own
// state there, as of its memory, and the scripts of this library read what they change.
func (r Refusal) NothingRan() bool {
	return r.NotAllowed() || r.Passing() || r.WrongType() || r.is("NOAUTH", "MOVED", "ASK", "CROSSSLOT") || r.noNumber()
}

// noNumber tells that a key or a field should have been a number. The first write of a
// script finds that.
func (r Refusal) noNumber() bool {
	return strings.Contains(r.said, "is not an integer") || strings.Contains(r.said, "would overflow")
}

// OfConnection tells that connecting again with the same settings would meet
// the same refusal: wrong credentials, a missing permission, a database that
// is not there.
func (r Refusal) OfConnection() bool {
	return slices.ContainsFunc([]string{
		"WRONGPASS", "NOAUTH", "NOPERM", "DENIED", "ERR AUTH", "ERR Client sent AUTH",
		"ERR invalid password", "ERR invalid DB index", "ERR DB index",
	}, func(begin string) bool { return strings.HasPrefix(r.text, begin) })
}

// Untold tells the answer of one of this library's scripts that is no refusal: it has done
// everything, with this result, and could not announce it, for the reason why.
func (r Refusal) Untold() (result int64, why error, ok bool) {
	words := strings.SplitN(r.text, " ", 3)
	if len(words) < 3 || words[0] != "UNTOLD" {
		return 0, nil, false
	}
	result, err := strconv.ParseInt(words[1], 10, 64)
	return result, redis.Error(words[2]), err == nil
}

// Rewrite returns err with the server's text changed by edit, for secrets that
// a server repeats. What is no server's error is returned as it is.
func Rewrite(err error, edit func(text string) string) error {
	r, ok := Of(err)
	if !ok {
		return err
	}
	return redis.Error(edit(r.text))
}

// saidInside tells an error that a script met inside from one that the server
// gave to the command itself, and what was said without the place:
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
