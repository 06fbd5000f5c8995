package main

import (
	"os"
	"path/filepath"
	"strconv"
)

// drawPlots draws what there are cells for into SVG files of a folder.
func drawPlots(r *Report, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, draw := range map[string]func(*Report) (string, error){
		"pairs.svg":      plotPairs,
		"handoff.svg":    plotHandoff,
		"contention.svg": plotContention,
	} {
		svg, err := draw(r)
		if err != nil {
			return err
		}
		if svg == "" {
			continue // not measured
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(svg), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// plotPairs has callers against the time of a pair, a line for each party that has several places.
func plotPairs(r *Report) (string, error) {
	if len(r.places("pairs")) < 2 {
		return "", nil
	}
	var all []curve
	for _, peer := range r.peers("pairs") {
		c := curve{name: peer}
		for _, at := range r.places("pairs") {
			if m, ok := r.median("pairs", peer, at, "µs"); ok {
				callers, err := strconv.ParseFloat(at, 64)
				if err != nil {
					return "", err
				}
				c.points = append(c.points, point{callers, m})
			}
		}
		if len(c.points) > 1 { // one point is no curve, and would lie upon another's
			all = append(all, c)
		}
	}
	return curves("Uncontended lock and unlock: less is better", r.caption(), "callers", "µs a pair", all), nil
}

// plotHandoff has, for each peer, a stroke from the median to the p99.
func plotHandoff(r *Report) (string, error) {
	var rows []row
	for _, at := range r.places("handoff") {
		for _, peer := range r.peers("handoff") {
			p50, ok := r.median("handoff", peer, at, "p50 µs")
			p99, too := r.median("handoff", peer, at, "p99 µs")
			if ok && too {
				rows = append(rows, row{shown("handoff", peer), colours[peer], p50, p99})
			}
		}
	}
	return strokes("From release to grant in another process: left is better", r.caption(), "µs", ends{"p50", "p99"}, rows), nil
}

// plotContention has, for each contest, the hand-offs a second of each peer.
func plotContention(r *Report) (string, error) {
	var all []barGroup
	for _, part := range []string{"local", "crowd"} {
		for _, at := range r.places(part) {
			c := barGroup{name: contenders(part, at)}
			for _, peer := range r.peers(part) {
				if handoffs, ok := r.median(part, peer, at, "hand-offs/s"); ok {
					c.bars = append(c.bars, bar{peer, colours[peer], handoffs})
				}
			}
			all = append(all, c)
		}
	}
	return bars("Hand-offs of one lock a second: longer is better", r.caption(), all), nil
}
