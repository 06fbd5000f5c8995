package simredis

import (
	"cmp"
	"slices"
	"strings"
)

type kind uint8

const (
	aString kind = iota + 1
	aHash
	aList
	aZset
)

func (k kind) String() string { return [...]string{"none", "string", "hash", "list", "zset"}[k] }

// entry is a value. Hashes keep the order of insertion, as small ones do in Redis.
type entry struct {
	kind kind
	str  string
	hash []field
	list []string
	zset []member // sorted
	till int64    // ms; 0: never expires
}

type field struct{ name, value string }
type member struct {
	name  string
	score float64
}

func (e *entry) clone() *entry {
	c := *e
	c.hash, c.list, c.zset = slices.Clone(e.hash), slices.Clone(e.list), slices.Clone(e.zset)
	return &c
}

func (e *entry) empty() bool {
	return e.kind == aHash && len(e.hash) == 0 || e.kind == aList && len(e.list) == 0 || e.kind == aZset && len(e.zset) == 0
}

func (e *entry) field(name string) int {
	if e == nil {
		return -1
	}
	return slices.IndexFunc(e.hash, func(f field) bool { return f.name == name })
}

func (e *entry) member(name string) int {
	if e == nil {
		return -1
	}
	return slices.IndexFunc(e.zset, func(m member) bool { return m.name == name })
}

// set puts a member in its place.
func (e *entry) set(name string, score float64) (added, changed bool) {
	i := e.member(name)
	if added = i < 0; !added {
		if e.zset[i].score == score {
			return false, false
		}
		e.zset = slices.Delete(e.zset, i, i+1)
	}
	m := member{name, score}
	i, _ = slices.BinarySearchFunc(e.zset, m, func(a, b member) int {
		return cmp.Or(cmp.Compare(a.score, b.score), strings.Compare(a.name, b.name))
	})
	e.zset = slices.Insert(e.zset, i, m)
	return added, true
}
