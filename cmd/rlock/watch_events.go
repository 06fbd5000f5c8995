package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// event is what happened to a lock.
type event struct {
	At      time.Time `json:"time"`
	What    string    `json:"event"`
	Name    string    `json:"name"`
	Bytes   []byte    `json:"name_base64,omitempty"`
	Holder  string    `json:"holder,omitempty"` // the new holder, or the one that is gone
	Waiting *int64    `json:"waiting,omitempty"`
	Replica string    `json:"replica,omitempty"` // the replica that says so
	Text    string    `json:"text,omitempty"`
}

func (e event) String() string { return e.in(math.MaxInt) }

// in formats the event, with its name cut to this many columns.
func (e event) in(columns int) string {
	return strings.TrimRight(fmt.Sprintf("%s  %-11s  %s  %s", e.At.Format("15:04:05.000"), e.What, cut(visible(e.Name), columns), e.Text), " ")
}

// changes returns what happened between two looks at a lock.
func changes(before, now *state) (all []event) {
	add := func(what, holder, format string, args ...any) *event {
		all = append(all, event{At: now.at, What: what, Name: now.Name, Bytes: now.Bytes, Holder: holder, Replica: now.Replica, Text: fmt.Sprintf(format, args...)})
		return &all[len(all)-1]
	}
	came, gone := missing(now.Holders, before.Holders), missing(before.Holders, now.Holders)
	// A key whose TTL has passed since it was asked for has expired. 10 ms are for the server.
	ended, passed := "released", now.at.Sub(before.asked)+10*time.Millisecond
	if before.TTL != nil && *before.TTL >= 0 && passed >= time.Duration(*before.TTL)*time.Millisecond {
		ended = "lost"
	}
	if len(came) == 1 && len(gone) == 1 && ended == "released" {
		add("handed over", came[0].Owner, "from %s to %s", gone[0].Owner, came[0].Owner)
		came, gone = nil, nil
	}
	for _, h := range gone {
		how := ended
		if h.Expiry != nil {
			how = "released"
			if passed >= time.Duration(*h.Expiry)*time.Millisecond {
				how = "lost"
			}
		}
		if how == "lost" {
			add(how, h.Owner, "by %s, whose lease ended", h.Owner)
		} else {
			add(how, h.Owner, "by %s", h.Owner)
		}
	}
	if now.KeptBy != before.KeptBy {
		if before.KeptBy != "" {
			add("freed", "", "it was kept by %s", before.KeptBy)
		}
		if now.KeptBy != "" {
			add("kept", now.KeptBy, "by %s, for another %s", now.KeptBy, now.left())
		}
	}
	for _, h := range came {
		add("held", h.Owner, "by %s%s", h, of(now))
	}
	if was, is := before.waiting(), now.waiting(); is >= 0 && is != max(was, 0) {
		add("waited for", "", "by %d", is).Waiting = &is
	}
	if before.Number != nil && now.Number != nil && *before.Number != *now.Number && len(came)+len(gone) == 0 {
		add(now.numberIs(), "", "%d, before %d", *now.Number, *before.Number)
	}
	return all
}

func of(s *state) string {
	switch {
	case s.Kind == fenced && s.Token != nil:
		return fmt.Sprintf(", token %d", *s.Token)
	case s.Mode != "":
		return ", mode " + s.Mode
	}
	return ""
}

// missing returns those of some that are not among others.
func missing(some, others []holder) (all []holder) {
	for _, h := range some {
		if !slices.ContainsFunc(others, func(o holder) bool { return o.Owner == h.Owner && o.Write == h.Write }) {
			all = append(all, h)
		}
	}
	return all
}
