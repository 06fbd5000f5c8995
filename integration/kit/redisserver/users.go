package redisserver

import (
	"net/url"
	"testing"
)

// User is an account of a server with access control; Rules are those of ACL SETUSER.
type User struct {
	Name, Password string   // as AUTH takes them
	Rules          []string // for example "~lock:*", "&*", "+@all", "-client"
}

// ACL starts a local server with these users. The default user stays all-powerful and without a password, for the
// test's own use. The users survive a restart.
func ACL(t testing.TB, users ...User) *LocalServer {
	t.Helper()
	var args []string
	for _, u := range users {
		args = append(append(args, "--user", u.Name, "on", ">"+u.Password), u.Rules...)
	}
	return Local(t, args...)
}

// URLAs is a server's URL with a user's name and password.
func URLAs(s Server, u User) string {
	parsed := url.URL{Scheme: "redis", Host: s.Addr(), User: url.UserPassword(u.Name, u.Password)}
	return parsed.String()
}
