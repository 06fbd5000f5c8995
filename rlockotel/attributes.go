package rlockotel

import (
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

// options are those of a measurement or a span, made once for each set of attributes,
// because making them costs more than all else.
type options struct {
	record  []metric.RecordOption
	add     []metric.AddOption
	observe []metric.ObserveOption
	start   []trace.SpanStartOption
}

// event is what the attributes of a lock's event are made from.
type event struct {
	kind, name string        // name: empty if it has none
	key        attribute.Key // empty if it adds nothing
	value      string
	contended  string // true or false; empty unless it is an acquire's
}

// sent is what the attributes of a command are made from.
type sent struct {
	command, server string
	database        string // empty if it is not known
	script          string // empty if it runs none
	undo            bool
	leases          int
	failed          string // why; empty if it did not
	refused         bool   // by the server, with this code
}

// mostSets bounds the kept options, because commands have many different errors and sizes.
const mostSets = 2000

// sets keeps options, by event or by sent. lately has the last few, such as a lock's and an
// unlock's in turn, because a look-up in the map allocates.
type sets[K event | sent] struct {
	attributes func(K) []attribute.KeyValue
	rest       *kept[K] // counts those beyond mostSets; nil: each gets its options, which are not kept
	all        sync.Map
	size       atomic.Int64
	lately     [4]atomic.Pointer[kept[K]]
	next       atomic.Uint32 // the place in lately to overwrite
}

// kept are the options of one event or command.
type kept[K event | sent] struct {
	of K
	options
	n atomic.Int64 // how many there were, in metrics.acquired
}

// keep makes the options with these attributes.
func keep[K event | sent](of K, attrs ...attribute.KeyValue) *kept[K] {
	with := metric.WithAttributeSet(attribute.NewSet(attrs...))
	return &kept[K]{of: of, options: options{
		[]metric.RecordOption{with}, []metric.AddOption{with}, []metric.ObserveOption{with}, []trace.SpanStartOption{trace.WithAttributes(attrs...)},
	}}
}

// options returns the options of one event or command.
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

// observe reports to a counter how many there were of each.
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
