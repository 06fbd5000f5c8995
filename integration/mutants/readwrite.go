package main

import (
	"fmt"

	"github.com/rlock-go/redisson/integration/internal/codeedit"
)

// inScript has a script of package luasrc say one thing for another, at each place where it says it.
func inScript(name, says, put string) codeedit.Edit {
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
	{
		what: "a renewal to read extends the lock and not the holds' keys", guards: "read-write",
		edits: edits{{In: "readLock.Renew", Expr: "h.Names[holdsName]", Put: `"nowhere"`}},
		by:    tests{"TestReadHoldsAreRenewedEachWithItsKey"},
	},
	{
		what: "a renewal to read cuts the lock's lease", guards: "read-write",
		edits: edits{inScript("read_renew", "call('pttl', lock) < lease", "true")},
		by:    tests{"TestReadRenew"},
	},
	{
		what: "a write release that leaves reads announces a read release", guards: "read-write",
		edits: edits{inScript("write_unlock", "KEYS[2], '1'", "KEYS[2], '0'")},
		by:    tests{"TestWriteUnlock"},
	},
	{
		what: "a write release that leaves reads tells nobody", guards: "read-write",
		edits: edits{inScript("write_unlock", "  announce()\nend\ncall('set'", "  if result == 1 then announce() end\nend\ncall('set'")},
		by:    tests{"TestWriteUnlock", "TestDowngradeLetsAllReadersIn"},
	},
	{
		what: "a read release leaves the keys of the owner's holds as they are", guards: "read-write",
		edits: edits{inScript("read_unlock", "lease > 0 and n or 0", "0")},
		by:    tests{"TestReadUnlock", "TestUnlockGivesWhatIsLeftItsLease"},
	},
	{
		what: "a write release leaves the keys of the owner's reads as they are", guards: "read-write",
		edits: edits{inScript("write_unlock", "for i = 1, reads do", "for i = 1, 0 do")},
		by:    tests{"TestWriteUnlock"},
	},
	{
		what: "a read release looks at its owner's holds only", guards: "read-write",
		edits: edits{inScript("read_unlock", "string.find(fields[f],", "fields[f] == owner and string.find(fields[f],")},
		by:    tests{"TestReadUnlock", "TestOtherReadersReleasesKeepAReadersLease"},
	},
	{
		what: "a read release looks at all holds, whoever keeps the lock", guards: "read-write",
		edits: edits{inScript("read_unlock", "released >= ttl - apart", "true")},
		by:    tests{"TestReadUnlockBesideManyReadersLooksAtFew"},
	},
	{
		what: "a writer's read release says that its owner holds nothing", guards: "read-write",
		edits: edits{inScript("read_unlock", "or mode == 'write' and call('hexists'", "or false and call('hexists'")},
		by:    tests{"TestReadUnlock"},
	},
	{
		what: "leases to write add up", guards: "read-write",
		edits: edits{inScript("write_lock", "if call('pttl', lock) < tonumber(lease) then\n  call('pexpire', lock, lease)", "do\n  call('pexpire', lock, math.max(call('pttl', lock), 0) + lease)")},
		by:    tests{"TestWriteLock", "TestUnlockGivesWhatIsLeftItsLease"},
	},
	{
		what: "who reads may wait to write", guards: "read-write",
		edits: edits{{In: "name.check", If: "_ && st.held > 0 && _", Put: "st != nil && false"}},
		by:    tests{"TestReaderCannotBecomeAWriter"},
	},
	{
		what: "a hash without a mode is taken for a free lock", guards: "read-write",
		edits: edits{inScript("read_lock", "call('exists', lock) == 1", "false"), {In: "readLock.Granted", Expr: "string(found) == luasrc.NoReadWriteLock", Put: "true"}},
		by:    tests{"TestReadWriteLockLeavesOtherKeysAlone", "TestReadWriteLockMeetsWhatIsNone"},
	},
	{
		what: "force asks for no mode", guards: "read-write",
		edits: edits{{In: "askMode", Case: "Forcible", Put: "Waiting"}},
		by:    tests{"TestReadWriteForceUnlock"},
	},
	{
		what: "force leaves the keys of the holds", guards: "read-write",
		edits: edits{{In: "forceMode", Expr: "n[holdsName]", Put: `"nowhere"`}},
		by:    tests{"TestReadWriteForceUnlock"},
	},
	{
		what: "a fixed lease to read is not asserted", guards: "read-write",
		edits: edits{{In: "OwnerState.needs", If: "h.l.traits.Asserts", Put: "false"}},
		by:    tests{"TestFixedReadLeaseIsAsserted"},
	},
	{
		what: "a fixed lease to read is renewed by a full one", guards: "read-write",
		edits: edits{{In: "OwnerState.renewedLease", Expr: "sum.OnlyAsserts()", Put: "false"}},
		by:    tests{"TestFixedReadLeaseIsAsserted"},
	},
	{
		what: "the last release of an owner gives ended holds a lease", guards: "read-write",
		edits: edits{{In: "releasing.encode", If: "r.l.traits.Asserts && r.Why != release.UnlockAs", Put: "false"}},
		by:    tests{"TestEndedReadHoldDoesNotOutliveItsOwnersLast"},
	},
	{
		what: "a release wakes one reader", guards: "read-write",
		edits: edits{{In: "readLock.Wake", Expr: "All", Put: "0"}},
		by:    tests{"TestReleaseWakesAllReadersAndOneWriter", "TestDowngradeLetsAllReadersIn"},
	},
}
