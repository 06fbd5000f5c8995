package rlockotel

import (
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

// options are a measurement's, or a span's: made once for each set of attributes, since
// that costs more than all else.
type options struct {
	record  []metric.RecordOption
	add     []metric.AddOption
	observe []metric.ObserveOption
	start   []trace.SpanStartOption
}

// event is what the attributes of a lock's event are made from.
type event struct {
	kind, name string        // name is empty: it has none
	key        attribute.Key // empty: it adds nothing
	value      string
	contended  string // empty: it is no acquire's
}

// sent is what those of a command are made from.
type sent struct {
	command, server string
	database        string // empty: it is not known
	script          string // empty: it runs none
	undo            bool
	leases          int
	failed          string // why; empty: it did not
	refused         bool   // by the server, in this word
}

// mostSets bounds what is kept of commands, whose errors and sizes are many.
const mostSets = 2000

// sets keeps options, by event or by sent. Most are those asked for lately, such as a lock's
// and an unlock's in turn; to ask the map for one allocates.
type sets[K event | sent] struct {
	attributes func(K) []attribute.KeyValue
	rest       *kept[K] // what those are counted as that are not kept; nil: each is told as what it is
	all        sync.Map
	size       atomic.Int64
	lately     [4]atomic.Pointer[kept[K]]
	next       atomic.Uint32 // whose place it is to be given up
}

// kept are the options of one.
type kept[K event | sent] struct {
	of K
	options
	n atomic.Int64 // how many there were, where they are counted here
}

// keep makes those of attributes.
func keep[K event | sent](of K, attrs ...attribute.KeyValue) *kept[K] {
	with := metric.WithAttributeSet(attribute.NewSet(attrs...))
	return &kept[K]{of: of, options: options{
		[]metric.RecordOption{with}, []metric.AddOption{with}, []metric.ObserveOption{with}, []trace.SpanStartOption{trace.WithAttributes(attrs...)},
	}}
}

// options gives those of one.
func (c *sets[K]) options(of K) *kept[K] {
	for i := range c.lately {
		if k := c.lately[i].Load(); k != nil && k.of == of {
			return k
		}
	}
	if known, ok := c.all.Load(of); ok {
		k := known.(*kept[K])
		c.lately[c.next.Add(1)%uint32(len(c.lately))].Store(k)
		return k
	}
	if c.size.Add(1) <= mostSets {
		k, _ := c.all.LoadOrStore(of, keep(of, c.attributes(of)...))
		return k.(*kept[K])
	}
	if c.rest != nil {
		return c.rest
	}
	return keep(of, c.attributes(of)...)
}

// observe tells a counter how many there were of each.
func (c *sets[K]) observe(to metric.Observer, counter metric.Int64Observable) {
	c.all.Range(func(_, one any) bool {
		k := one.(*kept[K])
		to.ObserveInt64(counter, k.n.Load(), k.observe...)
		return true
	})
	if n := c.rest.n.Load(); n > 0 {
		to.ObserveInt64(counter, n, c.rest.observe...)
	}
}
