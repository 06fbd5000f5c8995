package simredis

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// infoText is CLUSTER INFO.
func (n *node) infoText() string {
	state, assigned, suspected, failed := "fail", 0, 0, 0
	if n.serves {
		state = "ok"
	}
	for _, m := range n.known {
		slots := m.slots.count()
		assigned += slots
		if m.pfail {
			suspected += slots
		}
		if m.fail {
			failed += slots
		}
	}
	return fmt.Sprintf("cluster_state:%s\r\ncluster_slots_assigned:%d\r\ncluster_slots_ok:%d\r\ncluster_slots_pfail:%d\r\ncluster_slots_fail:%d\r\ncluster_known_nodes:%d\r\ncluster_size:%d\r\ncluster_current_epoch:%d\r\ncluster_my_epoch:%d\r\n",
		state, assigned, assigned-suspected-failed, suspected, failed, len(n.known), n.size(), n.epoch, n.self.config)
}

// line is a member's line of CLUSTER NODES.
func (n *node) line(m *nodeView) string {
	flags, master, link, sent := "master", cmp.Or(m.master, "-"), "connected", int64(0)
	if m.master != "" {
		flags = "slave"
	}
	if m == n.self {
		flags = "myself," + flags
	}
	if m.pfail {
		flags += ",fail?"
	}
	if m.fail {
		flags += ",fail"
	}
	addr, port := m.addr, "0"
	if addr == "" {
		addr, flags = ":0", flags+",noaddr"
	} else {
		_, port = split(addr)
		at, _ := strconv.Atoi(port)
		port = strconv.Itoa(at + 10000)
	}
	if m != n.self && !n.linked(m) {
		link = "disconnected"
	}
	if !m.pinged.IsZero() {
		sent = m.pinged.UnixMilli()
	}
	text := fmt.Sprintf("%s %s@%s %s %s %d %d %d %s", m.id, addr, port, flags, master, sent, m.ponged.UnixMilli(), m.config, link)
	for _, r := range ranges(&m.slots) {
		if text += fmt.Sprintf(" %d", r[0]); r[1] > r[0] {
			text += fmt.Sprintf("-%d", r[1])
		}
	}
	if m == n.self {
		for _, slot := range sorted(n.migrating) {
			text += fmt.Sprintf(" [%d->-%s]", slot, n.migrating[slot])
		}
		for _, slot := range sorted(n.importing) {
			text += fmt.Sprintf(" [%d-<-%s]", slot, n.importing[slot])
		}
	}
	return text + "\n"
}

// ranges returns the runs of slots, each with its first and last.
func ranges(x *slotSet) (all [][2]uint16) {
	x.each(func(slot uint16) bool {
		if i := len(all) - 1; i >= 0 && all[i][1]+1 == slot {
			all[i][1] = slot
		} else {
			all = append(all, [2]uint16{slot, slot})
		}
		return true
	})
	return all
}

// slotsReply is CLUSTER SLOTS. It leaves out replicas that are dead or were not heard from.
func (n *node) slotsReply() any {
	place := func(m *nodeView) any {
		h, p := split(m.addr)
		port, _ := strconv.ParseInt(p, 10, 64)
		return []any{h, port, m.id, []any{}}
	}
	type row struct {
		r [2]uint16
		m *nodeView
	}
	var rows []row
	for _, m := range n.known {
		for _, r := range ranges(&m.slots) {
			rows = append(rows, row{r, m})
		}
	}
	slices.SortFunc(rows, func(a, b row) int { return cmp.Compare(a.r[0], b.r[0]) })
	all := []any{}
	for _, x := range rows {
		line := []any{int64(x.r[0]), int64(x.r[1]), place(x.m)}
		for _, m := range n.known {
			if m.master == x.m.id && !m.fail && (m == n.self || m.offset >= 0) {
				line = append(line, place(m))
			}
		}
		all = append(all, line)
	}
	return all
}

func sorted[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
