package luasrc

import (
	"crypto/sha1" // Redis names scripts by it
	"embed"
	"encoding/hex"
	"slices"
)

// Script is a Lua script with its SHA-1. It is never changed after init and safe for concurrent
// use.
type Script struct {
	Name   string // the file's name without .lua
	Source string // the text, byte for byte
	SHA1   string // of Source, 40 lowercase hex digits, the argument of EVALSHA

	// shaArg is SHA1 as an argument, boxed once and not in each call.
	shaArg any
}

//go:embed *.lua
var files embed.FS

// These are the scripts, each with the function that makes calls of it.
var (
	LockScript        = newScript("lock")                          // Lock
	UnlockScript      = newScript("tell", "unlock")                // Unlock
	UnlockToScript    = newScript("tell", "left", "unlock_to")     // UnlockTo
	UnlockKeepScript  = newScript("tell", "left", "unlock_keep")   // UnlockKeep
	ForceUnlockScript = newScript("tell", "group", "force_unlock") // ForceUnlock
	RenewScript       = newScript("renew")                         // Renew

	ForceUnlockAloneScript = newScript("tell", "group", "force_unlock_alone") // ForceUnlockAlone

	SpinUnlockScript      = newScript("spin_unlock")                // SpinUnlock
	SpinForceUnlockScript = newScript("group", "spin_force_unlock") // SpinForceUnlock

	FencedLockScript       = newScript("fenced_lock")        // FencedLock
	NonReentrantLockScript = newScript("non_reentrant_lock") // NonReentrantLock

	LockAgainScript             = newAgain("again_lock", "lock")               // Again of Lock
	FencedLockAgainScript       = newAgain("again_fenced", "fenced_lock")      // Again of FencedLock
	NonReentrantLockAgainScript = newAgain("again_lock", "non_reentrant_lock") // Again of NonReentrantLock

	InfoScript = newScript("info") // Info
)

var scripts []*Script // all, in the order in which they were made

// Scripts returns all scripts, to load them ahead of use. The slice is the caller's.
func Scripts() []*Script { return slices.Clone(scripts) }

// newScript makes a script from the text of these files. Its name is that of the last file.
func newScript(of ...string) *Script {
	var name, source string
	for _, name = range of {
		text, err := files.ReadFile(name + ".lua")
		if err != nil {
			panic("luasrc: " + err.Error())
		}
		source += string(text)
	}
	sum := sha1.Sum([]byte(source))
	s := &Script{Name: name, Source: source, SHA1: hex.EncodeToString(sum[:])}
	s.shaArg = s.SHA1
	scripts = append(scripts, s)
	return s
}

// newAgain makes the script of an acquire that is sent again. It runs the file by first and then,
// unless that has answered, the acquire, whose files are given.
func newAgain(by string, acquire ...string) *Script {
	last := len(acquire) - 1
	s := newScript(slices.Insert(acquire, last, "left", "again", by)...)
	s.Name += "_again"
	return s
}
