package kind

import (
	"strings"

	"github.com/rlock-go/redisson/codec"
)

// LockName is a lock's key and its family.
type LockName struct {
	Key    string // as Redis has it
	Family string // Traits.Family of its kinds
}

// Locks are the locks whose holds a Renew looks up in a key, one of each family at most.
func Locks(key string) []LockName {
	names := []LockName{{key, ownedHash}, {key, readTraits.Family}}
	if permits, ok := strings.CutSuffix(key, ":timeout"); ok {
		bare := strings.TrimSuffix(strings.TrimPrefix(permits, "{"), "}")
		for _, k := range []string{permits, bare} {
			if codec.PermitTimes(k) == key {
				names = append(names, LockName{k, permitsTraits.Family})
			}
		}
	}
	return names
}
