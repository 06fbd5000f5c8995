package luasrc

import (
	"crypto/sha1" // Redis names scripts by it
	_ "embed"
	"encoding/hex"
)

// Script is a Lua script as the server's cache knows it. It is never changed
// after init and safe for concurrent use.
type Script struct {
	Name   string // the file's name without .lua
	Source string // the text, byte for byte
	SHA1   string // of Source, 40 lowercase hex digits, as EVALSHA wants it

	// shaArg is SHA1 as an argument, boxed once instead of in each call.
	shaArg any
}

var (
	//go:embed lock.lua
	lockSource string
	//go:embed unlock.lua
	unlockSource string
	//go:embed unlock_once.lua
	unlockOnceSource string
	//go:embed unlock_alone.lua
	unlockAloneSource string
	//go:embed force_unlock.lua
	forceUnlockSource string
	//go:embed force_unlock_alone.lua
	forceUnlockAloneSource string
	//go:embed renew.lua
	renewSource string
	//go:embed fenced_lock.lua
	fencedLockSource string
	//go:embed non_reentrant_lock.lua
	nonReentrantLockSource string
	//go:embed spin_unlock.lua
	spinUnlockSource string
	//go:embed spin_force_unlock.lua
	spinForceUnlockSource string
	//go:embed info.lua
	infoSource string
)

// The scripts, each with the function that makes calls of it.
var (
	LockScript        = newScript("lock", lockSource)                // Lock
	UnlockScript      = newScript("unlock", unlockSource)            // Unlock
	UnlockOnceScript  = newScript("unlock_once", unlockOnceSource)   // UnlockOnce
	UnlockAloneScript = newScript("unlock_alone", unlockAloneSource) // UnlockAlone
	ForceUnlockScript = newScript("force_unlock", forceUnlockSource) // ForceUnlock
	RenewScript       = newScript("renew", renewSource)              // Renew

	ForceUnlockAloneScript = newScript("force_unlock_alone", forceUnlockAloneSource) // ForceUnlockAlone

	SpinUnlockScript      = newScript("spin_unlock", spinUnlockSource)            // SpinUnlock
	SpinForceUnlockScript = newScript("spin_force_unlock", spinForceUnlockSource) // SpinForceUnlock

	FencedLockScript       = newScript("fenced_lock", fencedLockSource)              // FencedLock
	NonReentrantLockScript = newScript("non_reentrant_lock", nonReentrantLockSource) // NonReentrantLock

	InfoScript = newScript("info", infoSource) // Info
)

// Scripts lists all scripts, for loading them ahead of use. The slice is the
// caller's.
func Scripts() []*Script {
	return []*Script{
		LockScript, UnlockScript, UnlockOnceScript, ForceUnlockScript, RenewScript,
		SpinUnlockScript, SpinForceUnlockScript,
		ReadLockScript, ReadUnlockScript, ReadRenewScript, WriteLockScript, WriteUnlockScript, ReadWriteForceScript, ReadWriteInfoScript,
		UnlockAloneScript, ForceUnlockAloneScript, FencedLockScript, NonReentrantLockScript, InfoScript,
		FairLockScript, FairUnlockScript, FairLeaveScript, FairForceScript,
		PermitAcquireScript, PermitReleaseScript, PermitReleaseIDsScript, PermitRenewScript, PermitCountScript, PermitLeftScript, PermitSetScript, PermitDeleteScript,
		SemaphoreAcquireScript, SemaphoreUndoScript, SemaphoreChangeScript, CountDownScript,
	}
}

func newScript(name, source string) *Script {
	sum := sha1.Sum([]byte(source))
	s := &Script{Name: name, Source: source, SHA1: hex.EncodeToString(sum[:])}
	s.shaArg = s.SHA1
	return s
}
