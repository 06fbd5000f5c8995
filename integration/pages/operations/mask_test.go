package operations_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var (
	uuids     = regexp.MustCompile(`[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	latches   = regexp.MustCompile(`:[0-9a-f]{32}\b`)
	addresses = regexp.MustCompile(`127\.0\.0\.1:\d+`)
	instants  = regexp.MustCompile(`^\d{10}\.\d{6} |time=\S+`)
	counts    = regexp.MustCompile(`\b(id|conn_id|fd|age|idle|qbuf|qbuf-free|argv-mem|multi-mem|rbs|rbp|obl|oll|omem|tot-mem)=\d+`)
	durations = regexp.MustCompile(`\b(waited|held|down|trust_left)=\S+`)
	seconds   = regexp.MustCompile(`\b\d+(\.\d+)?s\b`)
	blanks    = regexp.MustCompile(` {2,}`)
	integer   = regexp.MustCompile(`^\(integer\) \d+$`)
)

// mask removes what differs from run to run. It numbers ids and addresses in the order of their coming, so that equal
// ones still show as equal.
type mask struct{ seen map[string]string }

func (m *mask) number(kind string) func(string) string {
	return func(s string) string {
		if m.seen == nil {
			m.seen = map[string]string{}
		}
		if m.seen[kind+s] == "" {
			m.seen[kind+s] = fmt.Sprint(kind, len(m.seen))
		}
		return m.seen[kind+s]
	}
}

func (m *mask) line(command, s string) string {
	s = instants.ReplaceAllString(s, "T ")
	s = uuids.ReplaceAllStringFunc(s, m.number("owner"))
	s = latches.ReplaceAllStringFunc(s, m.number("latch"))
	s = addresses.ReplaceAllStringFunc(s, m.number("address"))
	s = counts.ReplaceAllString(s, "$1=N")
	s = durations.ReplaceAllString(s, "$1=D")
	if strings.HasPrefix(command, "PTTL ") {
		s = integer.ReplaceAllString(s, "(integer) N")
	}
	if strings.HasPrefix(command, "rlock ") {
		s = blanks.ReplaceAllString(seconds.ReplaceAllString(s, "D"), "  ")
	}
	return s
}

// lines masks an output. For MONITOR it sorts the lines by connection, in their order, and each script's lines after
// the command that ran it: the order between connections is chance.
func (m *mask) lines(command string, output []string) []string {
	var all []string
	for _, l := range output {
		all = append(all, m.line(command, l))
	}
	if command != "MONITOR" {
		return all
	}
	by := map[string][]string{}
	var from string
	var order []string
	for _, l := range all {
		source, _, ok := strings.Cut(strings.TrimPrefix(l, "T  ["), "]")
		if ok && source != "0 lua" {
			from = source
		}
		if by[from] == nil {
			order = append(order, from)
		}
		by[from] = append(by[from], l)
	}
	var grouped []string
	for _, from := range order {
		grouped = append(grouped, by[from]...)
	}
	return grouped
}

// same compares an output with the page's, both masked. Lines of CLIENT LIST may have fields that the page's server did
// not have.
func same(page, got []string) bool {
	return slices.EqualFunc(page, got, func(p, g string) bool {
		if !strings.HasPrefix(p, "id=N ") {
			return p == g
		}
		fields := strings.Fields(g)
		for _, f := range strings.Fields(p) {
			if !slices.Contains(fields, f) {
				return false
			}
		}
		return true
	})
}
