package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// row is a question: one cast without and with courtesy, and perhaps others alone for comparison.
type row struct {
	name   string
	cast   cast
	alone  *cast // what Go could have without the others; always without courtesy
	wanted []wanted
}

// wanted is a bound for what the cast comes to with courtesy.
type wanted struct {
	what  string
	least float64
	of    func(r *rowResult) float64
}

const ms = time.Millisecond

func rows() []row {
	oneGo, twoGo := busy(1, 0, ms), busy(2, 0, ms)
	return []row{
		{name: "2go1java", cast: busy(2, 1, ms), alone: &twoGo, wanted: []wanted{everyProcess(0.15), ofAlone(0.80)}},
		{name: "1go1java", cast: busy(1, 1, ms), alone: &oneGo, wanted: []wanted{everyProcess(0.25)}},
		{name: "4go1java", cast: busy(4, 1, ms), wanted: []wanted{javaProcess(0.08)}},
		{name: "2go", cast: twoGo, wanted: []wanted{ofWithout(0.95)}},
		{name: "1go", cast: oneGo, wanted: []wanted{ofWithout(0.99), noMoreCommands(0.99)}},
		{name: "1goidle", cast: oneGo.beside(), wanted: []wanted{ofWithout(0.97)}},
		{name: "2goidle", cast: twoGo.beside(), wanted: []wanted{ofWithout(0.90)}},
		{name: "2go1java-10ms", cast: busy(2, 1, 10*ms)},
		{name: "2go1java-0", cast: busy(2, 1, 0)},
		{name: "1go2java", cast: busy(1, 2, ms)},
		{name: "think", cast: busy(1, 2, ms).thinking(1, 50*ms)},
	}
}

func everyProcess(least float64) wanted {
	return wanted{"the least share of a process", least, func(r *rowResult) float64 {
		return slices.Min(r.on.shares())
	}}
}

func javaProcess(least float64) wanted {
	return wanted{"Java's share", least, func(r *rowResult) float64 { return r.on.sideShare(javaSide) }}
}

func ofAlone(least float64) wanted {
	return wanted{"total, of what Go has alone", least, func(r *rowResult) float64 { return rateRatio(r.on, r.alone) }}
}

func ofWithout(least float64) wanted {
	return wanted{"total, of what it is without courtesy", least, func(r *rowResult) float64 { return rateRatio(r.on, r.off) }}
}

func noMoreCommands(least float64) wanted {
	return wanted{"commands an acquisition without courtesy, of those with it", least, func(r *rowResult) float64 {
		return r.off.commandsEach() / r.on.commandsEach()
	}}
}

func rowNames() (names []string) {
	for _, r := range rows() {
		names = append(names, r.name)
	}
	return names
}

func chooseRows(names string) (chosen []row, err error) {
	if names == "" {
		return rows(), nil
	}
	for name := range strings.SplitSeq(names, ",") {
		i := slices.Index(rowNames(), name)
		if i < 0 {
			return nil, fmt.Errorf("there is no row %q; there are %s", name, strings.Join(rowNames(), ", "))
		}
		chosen = append(chosen, rows()[i])
	}
	return chosen, nil
}
