package rlock

import (
	"fmt"
	"testing"

	"github.com/gomodule/redigo/redis"
)

// The texts are those of Redis 6.2.14, 7.0.15, 8.0.2 and Valkey 8.0.1.
func TestServerErrorsAreToldByWhatRan(t *testing.T) {
	for text, want := range map[string]struct{ harmless, passing bool }{
		// The account's rules, before the script runs.
		"NOPERM this user has no permissions to run the 'evalsha' command or its subcommand": {true, false},
		"NOPERM this user has no permissions to run the 'evalsha' command":                   {true, false},
		"NOPERM User worker has no permissions to run the 'evalsha' command":                 {true, false},
		"NOPERM this user has no permissions to access one of the keys used as arguments":    {true, false},
		"NOPERM No permissions to access a key":                                              {true, false},
		// A server without the command.
		"ERR unknown command `evalsha`, with args beginning with: `149c5a8bf18676fd99e9e6e24923bd64d9b62f94`, `1`, `lock`, ": {true, false},
		"ERR unknown command 'evalsha', with args beginning with: '149c5a8bf18676fd99e9e6e24923bd64d9b62f94' '1' 'lock' ":    {true, false},
		// The account's rules, inside.
		"ERR Error running script (call to f_149c5a8bf18676fd99e9e6e24923bd64d9b62f94): @user_script:1: @user_script: 1: The user executing the script can't run this command or subcommand ": {false, false},
		"ERR The user executing the script can't run this command or subcommand script: 149c5a8bf18676fd99e9e6e24923bd64d9b62f94, on @user_script:1.":                                         {false, false},
		"ERR ACL failure in script: User worker has no permissions to run the 'hincrby' command script: 149c5a8bf18676fd99e9e6e24923bd64d9b62f94, on @user_script:1.":                         {false, false},
		"ERR ACL failure in script: No permissions to access a channel script: 9fecd64a886fe4323279e0cc8e58a3e1b4a7e48a, on @user_script:35.":                                                 {false, false},
		"NOPERM No permissions to access a key script: 149c5a8bf18676fd99e9e6e24923bd64d9b62f94, on @user_script:1.":                                                                          {false, false},
		// A server without a command that the script calls.
		"ERR Error running script (call to f_541bc59d91fb4547dc0276161da86658398b68e1): @user_script:1: @user_script: 1: Unknown Redis command called from Lua script ": {false, false},
		"ERR Unknown Redis command called from script script: 541bc59d91fb4547dc0276161da86658398b68e1, on @user_script:1.":                                             {false, false},
		"ERR Unknown command called from script script: 541bc59d91fb4547dc0276161da86658398b68e1, on @user_script:1.":                                                   {false, false},
		// What comes before the lock script's first change.
		"ERR Error running script (call to f_149c5a8bf18676fd99e9e6e24923bd64d9b62f94): @user_script:1: WRONGTYPE Operation against a key holding the wrong kind of value ":         {true, false},
		"WRONGTYPE Operation against a key holding the wrong kind of value script: 149c5a8bf18676fd99e9e6e24923bd64d9b62f94, on @user_script:1.":                                    {true, false},
		"ERR Error running script (call to f_149c5a8bf18676fd99e9e6e24923bd64d9b62f94): @user_script:1: @user_script: 1: -OOM command not allowed when used memory > 'maxmemory'. ": {true, true},
		"OOM command not allowed when used memory > 'maxmemory'. script: 149c5a8bf18676fd99e9e6e24923bd64d9b62f94, on @user_script:1.":                                              {true, true},
		"ERR Error running script (call to f_149c5a8bf18676fd99e9e6e24923bd64d9b62f94): @user_script:1: @user_script: 1: -READONLY You can't write against a read only replica. ":   {true, true},
		"READONLY You can't write against a read only replica.":                                                            {true, true},
		"LOADING Redis is loading the dataset in memory":                                                                   {true, true},
		"ERR value is not an integer or out of range script: 6192ae3c12d64a274b09144af86a1a7315c8c1c4, on @user_script:1.": {false, false},
		"ERR Error running script (call to f_":                                                                             {false, false},
		"":                                                                                                                 {false, false},
	} {
		err := fmt.Errorf("wrapped: %w", redis.Error(text))
		if got := harmless(err); got != want.harmless {
			t.Errorf("harmless %v: %s", got, text)
		}
		if got := passing(err); got != want.passing {
			t.Errorf("passing %v: %s", got, text)
		}
	}
}
