package luasrc

import "strings"

// SaidInside tells an error that a script met inside from one that the server
// gave to the command itself, and what was said without the place:
//
//	Redis 6.2    ERR Error running script (call to f_SHA): @user_script:1: [@user_script: 1: ][-]OOM command not allowed
//	7.0 and on   OOM command not allowed script: SHA, on @user_script:1.
func SaidInside(answer string) (said string, inside bool) {
	said = answer
	if rest, old := strings.CutPrefix(said, "ERR Error running script (call to f_"); old {
		if _, rest, old = strings.Cut(rest, "): "); old {
			for strings.HasPrefix(rest, "@user_script:") {
				_, after, ok := strings.Cut(rest[len("@user_script:"):], ": ")
				if !ok {
					break
				}
				rest = after
			}
			return strings.TrimPrefix(rest, "-"), true
		}
	}
	at := strings.LastIndex(said, " script: ")
	return said, at >= 0 && strings.Contains(said[at:], ", on @user_script:")
}
