package faultproxy

import (
	"crypto/sha1"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
)

// Match reports whether a rule is about a command, given as its words. The proxy calls it for commands of all
// connections, one call at a time. It must not call the proxy.
type Match func(cmd []string) bool

// Command matches by the first words, in any case: Command("client", "kill").
func Command(words ...string) Match {
	return func(cmd []string) bool {
		return len(cmd) >= len(words) && slices.EqualFunc(cmd[:len(words)], words, strings.EqualFold)
	}
}

// Script matches EVALSHA and EVAL of the script whose SHA-1 in hex is sha or begins with sha.
func Script(sha string) Match {
	sha = strings.ToLower(sha)
	return func(cmd []string) bool {
		switch {
		case len(cmd) < 2:
			return false
		case strings.EqualFold(cmd[0], "EVALSHA"):
			return strings.HasPrefix(strings.ToLower(cmd[1]), sha)
		case strings.EqualFold(cmd[0], "EVAL"):
			sum := sha1.Sum([]byte(cmd[1]))
			return strings.HasPrefix(hex.EncodeToString(sum[:]), sha)
		}
		return false
	}
}

// Key matches commands on a key: one of KEYS for a script, else the first argument.
func Key(name string) Match {
	return func(cmd []string) bool { return slices.Contains(keys(cmd), name) }
}

// All matches a command that all of matches match.
func All(matches ...Match) Match {
	return func(cmd []string) bool {
		return !slices.ContainsFunc(matches, func(m Match) bool { return !m(cmd) })
	}
}

// Any matches a command that at least one of matches matches.
func Any(matches ...Match) Match {
	return func(cmd []string) bool {
		return slices.ContainsFunc(matches, func(m Match) bool { return m(cmd) })
	}
}

func keys(cmd []string) []string {
	if len(cmd) < 2 {
		return nil
	}
	if !Command("EVAL")(cmd) && !Command("EVALSHA")(cmd) {
		return cmd[1:2]
	}
	if len(cmd) < 3 {
		return nil
	}
	n, err := strconv.Atoi(cmd[2])
	if err != nil || n < 0 || 3+n > len(cmd) {
		return nil
	}
	return cmd[3 : 3+n]
}
