package main

import (
	"cmp"
	"slices"
	"strconv"
)

// Missing is a peer that a run had to do without.
type Missing struct {
	Peer string `json:"peer"`
	Why  string `json:"why"`
}

// missingPeers lists those that are wanted and not built in, with the reason, if there is one.
func missingPeers(reasons map[string]string, wants func(peer string) bool) (all []Missing) {
	for _, p := range goPeers() {
		if p.open == nil && wants(p.name) {
			all = append(all, Missing{p.name, cmp.Or(reasons[p.name], "not built in; -others tries to")})
		}
	}
	return all
}

// without tells why a run had to do without a peer.
func (r *Report) without(peer string) (why string, missing bool) {
	i := slices.IndexFunc(r.Missing, func(m Missing) bool { return m.Peer == peer })
	if i < 0 {
		return "", false
	}
	return r.Missing[i].Why, true
}

// absent are the peers that the table of a part and place would have beside those that were run.
func (r *Report) absent(part, at string) (all []string) {
	for _, m := range r.Missing {
		if takesPart(m.Peer, part, at) {
			all = append(all, m.Peer)
		}
	}
	return all
}

// takesPart tells whether a peer of others is measured there, if it is built in.
func takesPart(peer, part, at string) bool {
	switch part {
	case "held":
		n, err := strconv.Atoi(at)
		return err == nil && n <= renewing[peer]
	case "waiting":
		return slices.Contains(patient, peer)
	}
	return true
}
