package kind

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rlock-go/redisson/codec"
)

// Older makes the names of locks as an older release of Redisson makes them where a NameMapper is
// used. The zero Older makes the newest release's names. Without a NameMapper all releases make
// the same.
type Older struct {
	Map func(name string) string // the NameMapper; nil: there is none

	fairByName     bool // a fair lock's queue and its times have the name before Map
	permitsByName  bool // so has the set of taken permits
	readWriteTwice bool // a read-write lock's key is mapped twice
}

// The releases in which names changed. Redisson has NameMapper since the first.
var (
	mapperCame    = release{3, 15, 4}
	permitsMapped = release{3, 19, 1}
	readWriteOnce = release{3, 20, 1}
	fairMapped    = release{3, 52, 0}
)

// Beside is the Older for a release such as "3.37.0". A release without NameMapper has only keys,
// from which it makes names as the newest one does.
func Beside(named string) (Older, error) {
	r, err := parseRelease(named)
	if err != nil || r.before(mapperCame) {
		return Older{}, err
	}
	return Older{fairByName: r.before(fairMapped), permitsByName: r.before(permitsMapped), readWriteTwice: r.before(readWriteOnce)}, nil
}

// Names returns the names of a lock of a kind from its name and the key that Map makes of it.
func (o Older) Names(k Kind, name, key string) Names {
	n := k.Names(key)
	if o.Map == nil {
		return n
	}
	switch k.(type) {
	case fair:
		if o.fairByName {
			n[queueName], n[timesName] = codec.FairQueue(name), codec.FairTimes(name)
		}
	case permits:
		if o.permitsByName {
			n[timesPermits] = codec.PermitTimes(name)
		}
	case readLock, writeLock:
		if o.readWriteTwice {
			n = k.Names(o.Map(key))
		}
	}
	return n
}

// LockName is a lock's key and its family.
type LockName struct {
	Key    string // as in Redis
	Family string // Traits.Family of its kinds
}

// Locks returns the locks whose holds a Renew reads in key: one of each family, but two
// semaphores with permits, a and {a}, can share the key.
func (o Older) Locks(key string) []LockName {
	names := []LockName{{key, ownedHash}, {key, readTraits.Family}}
	if permits, ok := strings.CutSuffix(key, ":timeout"); ok {
		bare := strings.TrimSuffix(strings.TrimPrefix(permits, "{"), "}")
		for _, k := range []string{permits, bare} {
			if codec.PermitTimes(k) != key {
				continue
			}
			if o.Map != nil && o.permitsByName {
				k = o.Map(k)
			}
			names = append(names, LockName{k, permitsTraits.Family})
		}
	}
	return names
}

// release is a release of Redisson: major, minor and patch.
type release [3]int

func parseRelease(s string) (r release, err error) {
	parts := strings.Split(s, ".")
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 10, 16)
		if err != nil || len(parts) != len(r) {
			return r, fmt.Errorf("%q is no release of Redisson; write it as 3.37.0", s)
		}
		r[i] = int(n)
	}
	return r, nil
}

func (r release) before(other release) bool {
	for i := range r {
		if r[i] != other[i] {
			return r[i] < other[i]
		}
	}
	return false
}
