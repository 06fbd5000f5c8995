package simulation

import (
	"regexp"
	"strings"
)

// allowed is a difference that the model may have, with its reason.
type allowed struct {
	name         string
	server, with *regexp.Regexp // both replies match
	versions     string         // that begin so; empty: all
	reason       string
}

func may(name, versions, server, model, reason string) allowed {
	return allowed{name, regexp.MustCompile("(?s)" + server), regexp.MustCompile("(?s)" + model), versions, reason}
}

var differences = []allowed{
	may("errors of Lua", "", `^-ERR user_script:\d+: `, `^-ERR user_script:\d+: `, "the model's interpreter words its own errors differently: both fail in the same command"),
	may("scripts of 6.2", "6.", `^-ERR Error running script \(call to f_`, `^-[A-Z]+ `, "6.2 puts the error of a command behind the script's line, and the model has the form of 7.0"),
	may("caught errors of 6.2", "6.", `^-@user_script: \d+: `, `^-ERR `, "6.2 has the script's line in the place of the code in an error that the script caught and returns"),
	may("SELECT of 6.2", "6.", `^-ERR invalid DB index`, `^-ERR value is not an integer`, "another text"),
	may("arguments of 6.2", "6.", `^-ERR (Unknown subcommand|wrong number of arguments)`, `^-ERR (unknown subcommand|wrong number of arguments)`, "6.2 has no subcommands of their own"),
}

// sameCode tells whether both are errors with one code, in a version that words them otherwise than 7.0, as the
// model does. Clients decide by the code.
func sameCode(version string, server, model []byte) bool {
	code := func(b []byte) string { word, _, _ := strings.Cut(string(b), " "); return word }
	return !strings.HasPrefix(version, "7.0") && len(server) > 0 && server[0] == '-' && code(server) == code(model)
}

// excused returns the name of the entry that allows a difference.
func excused(version string, server, model []byte) string {
	for _, d := range differences {
		if strings.HasPrefix(version, d.versions) && d.server.Match(server) && d.with.Match(model) {
			return d.name
		}
	}
	if sameCode(version, server, model) {
		return "text of an error of the same code"
	}
	return ""
}
