package topology

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/redisconn"
)

// slotCount is the number of hash slots of every cluster.
const slotCount = 16384

// slotRange is a run of slots, their master and its replicas.
type slotRange struct {
	Range
	master   string   // host:port
	replicas []string // likewise
	ids      []string // of all of them, the master's first; empty if the server sent none
}

// slotMap is one server's view of which servers have which slots.
type slotMap []slotRange

var errNoSlots = errors.New("it knows of no server that serves slots")

// decodeSlots reads the answer of the server at asked to CLUSTER SLOTS. Each line
// has the first and the last slot, then the master and the replicas: each a host,
// a port, an id, and more. If the server does not know or does not send a host, the
// host of asked is meant. unusable says why lines were left out: a master that came
// back without its nodes.conf has port 0.
func decodeSlots(reply any, err error, asked string) (m slotMap, unusable, failed error) {
	lines, err := redis.Values(reply, err)
	if r, _ := redisconn.RefusalOf(err); r.NoCluster() {
		return nil, nil, redisconn.TopologyError("it is no node of a cluster; the URL of a single server is redis://[user:password@]host:port, that of Sentinels redis+sentinel://[user:password@]host:port,host:port/master-name")
	}
	if err != nil {
		return nil, nil, fmt.Errorf("CLUSTER SLOTS: %w", err)
	}
	for _, line := range lines {
		r, err := decodeRange(line, asked)
		if err != nil {
			unusable = errors.Join(unusable, err)
			continue
		}
		m = append(m, r)
	}
	if len(m) == 0 {
		return nil, nil, fmt.Errorf("CLUSTER SLOTS: %w", cmp.Or(unusable, errNoSlots))
	}
	return m, unusable, nil
}

func decodeRange(line any, asked string) (r slotRange, err error) {
	var first, last int
	fields, _ := redis.Values(line, nil)
	servers, err := redis.Scan(fields, &first, &last)
	if err != nil || len(servers) == 0 {
		return r, fmt.Errorf("no line of slots: a Go %T of %d elements", line, len(fields))
	}
	if first < 0 || last < first || last >= slotCount {
		return r, fmt.Errorf("no slots: %d to %d", first, last)
	}
	r.Range = Range{uint16(first), uint16(last)}
	for i, field := range servers {
		at, id, err := decodePlace(field, asked)
		r.ids = append(r.ids, id)
		switch {
		case i == 0 && err != nil:
			return r, fmt.Errorf("slots %d to %d: %w", first, last, err)
		case i == 0:
			r.master = at
		case err == nil: // a replica without a usable address is left out
			r.replicas = append(r.replicas, at)
		}
	}
	return r, nil
}

// addReplicas adds the replicas that only CLUSTER NODES lists. CLUSTER SLOTS leaves out
// replicas that its server has not heard from; a master that has just started has heard
// from none. Replicas that most masters call dead stay out: they can't be promoted.
func (m slotMap) addReplicas(nodes, asked string) {
	for line := range strings.Lines(nodes) {
		words := strings.Fields(line)
		if len(words) < 4 {
			continue
		}
		id, flags, master := words[0], strings.Split(words[2], ","), words[3]
		at, _, _ := strings.Cut(words[1], "@")
		at = splitPlace(at, asked)
		if at == "" || !slices.Contains(flags, "slave") || slices.Contains(flags, "fail") || slices.Contains(flags, "noaddr") {
			continue
		}
		for i := range m {
			if r := &m[i]; r.ids[0] == master && !slices.Contains(r.ids, id) {
				r.replicas, r.ids = append(r.replicas, at), append(r.ids, id)
			}
		}
	}
}

// alone tells whether the server with this answer to CLUSTER NODES hears no majority of
// the masters with slots, itself included.
func alone(nodes string) bool {
	all, heard := 0, 0
	for line := range strings.Lines(nodes) {
		words := strings.Fields(line)
		if len(words) < 9 {
			continue
		}
		flags := strings.Split(words[2], ",")
		if slices.Contains(flags, "master") {
			all++
			if !slices.Contains(flags, "fail") && !slices.Contains(flags, "fail?") {
				heard++
			}
		}
	}
	return 2*heard <= all && all > 0
}

// decodePlace reads a server's address and its id, which is empty if there is none.
func decodePlace(field any, asked string) (at, id string, err error) {
	words, _ := redis.Values(field, nil)
	if len(words) > 2 {
		id, _ = redis.String(words[2], nil)
	}
	var host string // nil leaves it empty
	var port int
	if _, err := redis.Scan(words, &host, &port); err != nil {
		return "", id, fmt.Errorf("no server: a Go %T of %d elements: %w", field, len(words), err)
	}
	if port < 1 || port > 65535 {
		return "", id, fmt.Errorf("no port: %d", port)
	}
	return place(host, strconv.Itoa(port), asked), id, nil
}

// splitPlace reads the address of a redirection, whose IPv6 hosts may lack brackets. It
// returns "" if the address is malformed.
func splitPlace(addr, asked string) string {
	at := strings.LastIndexByte(addr, ':')
	if at < 0 {
		return ""
	}
	if _, err := strconv.ParseUint(addr[at+1:], 10, 16); err != nil {
		return ""
	}
	return place(strings.Trim(addr[:at], "[]"), addr[at+1:], asked)
}

// place joins a host and a port. A server that does not know a host sends "" or "?";
// then the host of asked is meant.
func place(host, port, asked string) string {
	if host == "" || host == "?" {
		host, _, _ = net.SplitHostPort(asked)
	}
	return net.JoinHostPort(host, port)
}
