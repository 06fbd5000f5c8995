package main

import (
	"cmp"
	"slices"
	"strconv"
)

// Missing is a peer that a run lacked.
type Missing struct {
	Peer string `json:"peer"`
	Why  string `json:"why"`
}

// missingPeers lists the wanted peers that are not built in, with the reason if there is one.
func missingPeers(reasons map[string]string, wants func(peer string) bool) (all []Missing) {
	for _, p := range goPeers() {
		if p.open == nil && wants(p.name) {
			all = append(all, Missing{p.name, cmp.Or(reasons[p.name], "not built in; -others tries to")})
		}
	}
	return all
}

// without returns why a run lacked a peer.
func (r *Report) without(peer string) (why string, missing bool) {
	i := slices.IndexFunc(r.Missing, func(m Missing) bool { return m.Peer == peer })
	if i < 0 {
		return "", false
	}
	return r.Missing[i].Why, true
}

// absent are the missing peers that the table of a part and place would otherwise have.
func (r *Report) absent(part, at string) (all []string) {
	for _, m := range r.Missing {
		if takesPart(m.Peer, part, at) {
			all = append(all, m.Peer)
		}
	}
	return all
}

// takesPart reports whether a peer of others, if built in, is measured there.
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
