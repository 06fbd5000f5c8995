package codec

// UnlockMessage is published on a lock's [Channel] when its last hold is
// released or the lock is forced open.
const UnlockMessage = "0"

// IsUnlock tells whether a message from a lock's channel announces that the lock
// is free. Any other message there comes from other software and means nothing to a
// plain lock. Nil is not an unlock.
func IsUnlock(payload []byte) bool { return string(payload) == UnlockMessage }
