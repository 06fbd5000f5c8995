package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rlock-go/redisson/integration/kit/codeedit"
	"github.com/rlock-go/redisson/internal/luasrc"
)

// inScript replaces a text at each of its places in a script of package luasrc.
func inScript(name, says, put string) codeedit.Edit {
	if !slices.ContainsFunc(luasrc.Scripts(), func(s *luasrc.Script) bool { return s.Name == name && strings.Contains(s.Source, says) }) {
		panic(fmt.Sprintf("mutants: the script %s does not say %q", name, says))
	}
	return codeedit.Edit{In: "newScript", Stmt: "sum := sha1.Sum([]byte(source))", Before: fmt.Sprintf(`
		if says, put := %q, %q; name == %q {
			for i := 0; i+len(says) <= len(source); i++ {
				if source[i:i+len(says)] == says {
					source = source[:i] + put + source[i+len(says):]
					i += len(put)
				}
			}
		}`, says, put, name)}
}

// readWrite breaks the rules of a read-write lock.
var readWrite = []defect{
	{"a renewal to read extends the lock and not the holds' keys", "read-write", tests{"TestReadHoldsAreRenewedEachWithItsKey"},
		edits{{In: "readLock.Renew", Expr: "h.Names[holdsName]", Put: `"nowhere"`}}},
	{"a renewal to read makes a hold's key", "read-write, moved slots", tests{"TestReadRenew"},
		edits{inScript("read_renew", "redis.pcall('pexpire', hold, lease) == 1", "redis.call('set', hold, 1, 'px', lease)")}},
	{"a renewal to read names the keys of no hold", "read-write, moved slots", tests{"TestReadersEnterAnOpenSlotAndStay"},
		edits{{In: "renewalScript.send", Expr: "sub.count", Put: "0"}}},
	{"a renewal to read makes the names of others' keys from any key", "read-write", tests{"TestReadRenew"},
		edits{inScript("read_renew", "known > 0 and n or 0", "n")}},
	{"a read hold in its last millisecond counts as ended", "read-write", tests{"TestReadHoldKeepsTheLockInItsLastMillisecond"},
		edits{inScript("read_unlock", "ttl == 0 and 1 or ttl", "ttl")}},
	{"a lock in its last millisecond counts as ended while a reader may be elsewhere", "read-write, moved slots", tests{"TestScriptsInTheLastMillisecondOfAKey"},
		edits{inScript("read_unlock", "lasts(lock)", "call('pttl', lock)")}},
	{"a renewal to read cuts the lock's lease", "read-write", tests{"TestReadRenew"},
		edits{inScript("read_renew", "call('pttl', lock) < lease", "true")}},
	{"a refused reader leaves a mode that nobody holds", "read-write", tests{"TestRefusalOfEachCommandCostsWhatItMust"},
		edits{inScript("read_lock", "call('hset', lock, 'mode', 'read', owner, 1)", "call('hset', lock, 'mode', 'read') call('hincrby', lock, owner, 1)")}},
	{"a refused writer leaves a mode that nobody holds", "read-write", tests{"TestRefusalOfEachCommandCostsWhatItMust"},
		edits{inScript("write_lock", "call('hset', lock, 'mode', 'write', writer, 1)", "call('hset', lock, 'mode', 'write') call('hincrby', lock, writer, 1)")}},
	{"an unlock of a read-write lock waits until its slot has settled", "moved slots", tests{"TestReadersAndWritersLeaveAnOpenSlot"},
		edits{{In: "kind.unlatched", Expr: "w.Latch == nil", Put: "w == nil"}}},
	{"a hold of which the slot's other server knows is taken for ended", "moved slots", tests{"TestReadersAndWritersLeaveAnOpenSlot"},
		edits{inScript("read_unlock", "return known and found", "return found")}},
	{"a write release that leaves reads announces a read release", "read-write", tests{"TestWriteUnlock"},
		edits{inScript("write_unlock", "channel, '1'", "channel, '0'")}},
	{"a waiter trusts the end of a lock that is read", "read-write", tests{"TestReadPausesAreBounded", "TestWriterEntersWhenTheLastReadersLeaseEnds"},
		edits{{In: "readLock.Pause", If: "g.TTL < 0 || g.TTL > poll", Put: "false"}}},
	{"a write release that leaves reads tells nobody", "read-write", tests{"TestWriteUnlock"},
		edits{inScript("write_unlock", "  tell()\nend\nif latch", "  if result == 1 then tell() end\nend\nif latch")}},
	{"a read release leaves the keys of the owner's holds as they are", "read-write", tests{"TestReadUnlock", "TestUnlockGivesWhatIsLeftItsLease"},
		edits{inScript("read_unlock", "lease > 0 and n or 0", "0")}},
	{"a write release leaves the keys of the owner's reads as they are", "read-write", tests{"TestWriteUnlock"},
		edits{inScript("write_unlock", "for i = 1, reads do", "for i = 1, 0 do")}},
	{"a read release looks at its owner's holds only", "read-write", tests{"TestReadUnlock", "TestOtherReadersReleasesKeepAReadersLease"},
		edits{inScript("read_unlock", "string.find(fields[f],", "fields[f] == owner and string.find(fields[f],")}},
	{"a read release looks at all holds, whoever keeps the lock", "read-write", tests{"TestReadUnlockBesideManyReadersLooksAtFew"},
		edits{inScript("read_unlock", "released >= ttl - late", "true")}},
	{"a read release does not see that its hold gave the lock its end", "read-write", tests{"TestReadUnlock"},
		edits{inScript("read_unlock", "released >= ttl - late", "released >= ttl - apart")}},
	{"a read release deletes a written lock that was made permanent", "read-write", tests{"TestReadUnlock"},
		edits{inScript("read_unlock", "mode ~= 'write' or ttl >= 0", "true")}},
	{"a writer's read release says that its owner holds nothing", "read-write", tests{"TestReadUnlock"},
		edits{inScript("read_unlock", "or mode == 'write' and call('hexists'", "or false and call('hexists'")}},
	{"leases to write add up", "read-write", tests{"TestWriteLock", "TestUnlockGivesWhatIsLeftItsLease"},
		edits{inScript("write_lock", "if ttl < tonumber(lease) then\n  call('pexpire', lock, lease)", "do\n  call('pexpire', lock, math.max(call('pttl', lock), 0) + lease)")}},
	{"who reads may wait to write", "read-write", tests{"TestReaderCannotBecomeAWriter"},
		edits{{In: "locks.checkUpgrade", If: "_ && st.held > 0 && _", Put: "st != nil && false"}}},
	{"a hash without a mode is taken for a free lock", "read-write", tests{"TestReadWriteLockLeavesOtherKeysAlone", "TestReadWriteLockMeetsWhatIsNone"},
		edits{inScript("read_lock", "call('exists', lock) == 1", "false"), {In: "noReadWriteLock", Expr: "string(found) == luasrc.NoReadWriteLock", Put: "true"}}},
	{"force asks for no mode", "read-write", tests{"TestReadWriteForceUnlock"},
		edits{{In: "askMode", Case: "Forcible", Put: "Waiting"}}},
	{"a plain force deletes the multi-lock of a group", "I2", tests{"TestForceUnlockLeavesAGroupAlone", "TestForceUnlockRefusesAGroup"},
		edits{inScript("force_unlock", "if grouped() then", "if false then")}},
	{"force leaves the keys of the holds", "read-write", tests{"TestReadWriteForceUnlock"},
		edits{{In: "forceMode", Expr: "n[holdsName]", Put: `"nowhere"`}}},
	{"a fixed lease to read is not asserted", "read-write", tests{"TestFixedReadLeaseIsAsserted"},
		edits{{In: "OwnerState.needs", If: "h.lock.Traits.Asserts", Put: "false"}}},
	{"a fixed lease to read is renewed by a full one", "read-write", tests{"TestFixedReadLeaseIsNotMadeLonger"},
		edits{{In: "OwnerState.begin", Expr: "!sum.Extends", Put: "false"}}},
	{"the last release of an owner gives ended holds a lease", "read-write", tests{"TestEndedReadHoldDoesNotOutliveItsOwnersLast"},
		edits{{In: "releasing.encode", If: "r.l.Traits.KeepsLeases && r.Why != release.UnlockAs", Put: "false"}}},
	{"the last release to write leaves a lock whose holds have all ended", "read-write", tests{"TestWriteUnlock", "TestEndedReadHoldDoesNotOutliveItsOwnersLast"},
		edits{inScript("write_unlock", "alone and longest == 0", "fields == 1")}},
	{"a late release that sets no lease cuts one", "read-write", tests{"TestLateReleaseToWriteThatLeavesNoLeaseCutsNone"},
		edits{{In: "releasing.Apply", If: "r.least > 0 || r.l.Traits.Asserts", Put: "true"}}},
	{"a release wakes no reader", "read-write", tests{"TestReleaseWakesAllReadersAndOneWriter"},
		edits{{In: "readLock.Wake", Expr: "All", Put: "0"}}},
}
