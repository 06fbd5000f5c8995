package main

import (
	"context"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// complete returns names for the shell's completion, for which a user waits at most two seconds.
func (s *server) complete(begun string) (names []string) {
	r, err := s.reader()
	if err != nil {
		return nil
	}
	defer r.close()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	l := &listing{r: r, match: literal(begun) + "*", limit: 50}
	_ = l.find(ctx) // names that were found before an error count
	for name := range l.names {
		if typed(name) {
			names = append(names, name)
		}
	}
	return names
}

// typed reports whether a shell can show a name and a user can type it.
func typed(name string) bool {
	return utf8.ValidString(name) && !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}
