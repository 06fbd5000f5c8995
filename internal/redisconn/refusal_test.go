package redisconn_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/gomodule/redigo/redis"

	"github.com/rlock-go/redisson/internal/redisconn"
)

// The texts are those of Redis 6.2.14, 7.0.15, 8.0.2 and Valkey 8.0.1.
func TestRefusalsAreToldByWhatRan(t *testing.T) {
	for text, want := range map[string]struct{ nothingRan, passing bool }{
		// The account's rules refuse the script.
		"NOPERM this user has no permissions to run the 'evalsha' command or its subcommand": {true, false},
		"NOPERM this user has no permissions to run the 'evalsha' command":                   {true, false},
		"NOPERM User worker has no permissions to run the 'evalsha' command":                 {true, false},
		"NOPERM this user has no permissions to access one of the keys used as arguments":    {true, false},
		"NOPERM No permissions to access a key":                                              {true, false},
		// The server lacks the command.
		"ERR unknown command `evalsha`, with args beginning with: `149c5a8bf18676fd99e9e6e24923bd64d9b62f94`, `1`, `lock`, ": {true, false},
		"ERR unknown command 'evalsha', with args beginning with: '149c5a8bf18676fd99e9e6e24923bd64d9b62f94' '1' 'lock' ":    {true, false},
		// The account's rules refuse a call inside the script.
		"ERR Error running script (call to f_149c5a8bf18676fd99e9e6e24923bd64d9b62f94): @user_script:1: @user_script: 1: The user executing the script can't run this command or subcommand ": {false, false},
		"ERR The user executing the script can't run this command or subcommand script: 149c5a8bf18676fd99e9e6e24923bd64d9b62f94, on @user_script:1.":                                         {false, false},
		"ERR ACL failure in script: User worker has no permissions to run the 'hincrby' command script: 149c5a8bf18676fd99e9e6e24923bd64d9b62f94, on @user_script:1.":                         {false, false},
		"ERR ACL failure in script: No permissions to access a channel script: 9fecd64a886fe4323279e0cc8e58a3e1b4a7e48a, on @user_script:35.":                                                 {false, false},
		"NOPERM No permissions to access a key script: 149c5a8bf18676fd99e9e6e24923bd64d9b62f94, on @user_script:1.":                                                                          {false, false},
		// The server lacks a command that the script calls.
		"ERR Error running script (call to f_541bc59d91fb4547dc0276161da86658398b68e1): @user_script:1: @user_script: 1: Unknown Redis command called from Lua script ": {false, false},
		"ERR Unknown Redis command called from script script: 541bc59d91fb4547dc0276161da86658398b68e1, on @user_script:1.":                                             {false, false},
		"ERR Unknown command called from script script: 541bc59d91fb4547dc0276161da86658398b68e1, on @user_script:1.":                                                   {false, false},
		// Refused before the lock script's first change.
		"ERR Error running script (call to f_149c5a8bf18676fd99e9e6e24923bd64d9b62f94): @user_script:1: WRONGTYPE Operation against a key holding the wrong kind of value ":         {true, false},
		"WRONGTYPE Operation against a key holding the wrong kind of value script: 149c5a8bf18676fd99e9e6e24923bd64d9b62f94, on @user_script:1.":                                    {true, false},
		"ERR Error running script (call to f_149c5a8bf18676fd99e9e6e24923bd64d9b62f94): @user_script:1: @user_script: 1: -OOM command not allowed when used memory > 'maxmemory'. ": {true, true},
		"OOM command not allowed when used memory > 'maxmemory'. script: 149c5a8bf18676fd99e9e6e24923bd64d9b62f94, on @user_script:1.":                                              {true, true},
		"ERR Error running script (call to f_149c5a8bf18676fd99e9e6e24923bd64d9b62f94): @user_script:1: @user_script: 1: -READONLY You can't write against a read only replica. ":   {true, true},
		"READONLY You can't write against a read only replica.":                                                                            {true, true},
		"LOADING Redis is loading the dataset in memory":                                                                                   {true, true},
		"ERR value is not an integer or out of range script: 6192ae3c12d64a274b09144af86a1a7315c8c1c4, on @user_script:1.":                 {true, false},
		"ERR Error running script (call to f_149c5a8bf18676fd99e9e6e24923bd64d9b62f94): @user_script:1: ERR hash value is not an integer ": {true, false},
		"ERR increment or decrement would overflow script: 6192ae3c12d64a274b09144af86a1a7315c8c1c4, on @user_script:1.":                   {true, false},
		"ERR Error running script (call to f_":                                                                                             {false, false},
		"":                                                                                                                                 {false, false},
	} {
		r, ok := redisconn.RefusalOf(fmt.Errorf("wrapped: %w", redis.Error(text)))
		if !ok {
			t.Fatalf("no refusal: %s", text)
		}
		if got := r.NothingRan(); got != want.nothingRan {
			t.Errorf("nothing ran %v: %s", got, text)
		}
		if got := r.Passing(); got != want.passing {
			t.Errorf("passing %v: %s", got, text)
		}
	}
}

func TestScriptThatMetAKeyElsewhere(t *testing.T) {
	for text, want := range map[string]bool{
		"ERR Script attempted to access a non local key in a cluster node script: 1ce, on @user_script:35.":                       true,
		"ERR Error running script (call to f_1ce): @user_script:35: Script attempted to access a non local key in a cluster node": true,
		"TRYAGAIN Multiple keys request during rehashing of slot":                                                                 false,
	} {
		if r, _ := redisconn.RefusalOf(redis.Error(text)); r.MetElsewhere() != want || r.NothingRan() == want {
			t.Errorf("%t: %s", r.MetElsewhere(), text)
		}
	}
}

// A script of this library answers that it could not announce what it did.
func TestUntoldIsNoRefusal(t *testing.T) {
	for text, want := range map[string]struct {
		result int64
		why    string
		ok     bool
	}{
		"UNTOLD 1 ERR The user executing the script can't run this command or subcommand": {1, "ERR The user executing the script can't run this command or subcommand", true},
		"UNTOLD -12 @user_script: 12: no":                                                 {-12, "@user_script: 12: no", true},
		"UNTOLD 1":                                                                        {},
		"UNTOLD many ERR":                                                                 {},
		"ERR UNTOLD 1 ERR":                                                                {},
	} {
		r, _ := redisconn.RefusalOf(redis.Error(text))
		result, why, ok := r.Unannounced()
		if ok != want.ok || ok && (result != want.result || why != redis.Error(want.why)) {
			t.Errorf("%s: %d, %v, %v", text, result, why, ok)
		}
	}
	if _, _, ok := (redisconn.Refusal{}).Unannounced(); ok {
		t.Error("no answer is untold")
	}
}

func TestRefusalsOfAConnection(t *testing.T) {
	for text, want := range map[string]struct{ ofConnection, notAllowed, transient bool }{
		"WRONGPASS invalid username-password pair or user is disabled.":                                                             {true, false, false},
		"NOAUTH Authentication required.":                                                                                           {true, false, false},
		"NOREPLICAS Not enough good replicas to write.":                                                                             {false, false, true},
		"NOPERM User app has no permissions to run the 'select' command":                                                            {true, true, false},
		"DENIED Redis is running in protected mode because protected mode is enabled":                                               {true, false, false},
		"ERR Client sent AUTH, but no password is set":                                                                              {true, false, false},
		"ERR DB index is out of range":                                                                                              {true, false, false},
		"ERR max number of clients reached":                                                                                         {false, false, false},
		"ERR unknown command 'client'":                                                                                              {false, true, false},
		"ERR Unknown subcommand or wrong number of arguments for 'INFO'. Try CLIENT HELP.":                                          {false, true, false},
		"LOADING Redis is loading the dataset in memory":                                                                            {false, false, true},
		"MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.":                                          {false, false, true},
		"READONLY You can't write against a read only replica.":                                                                     {false, false, false},
		"BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.":                                    {false, false, true},
		"ERR Script killed by user with SCRIPT KILL... script: 694a5fe1, on @user_script:1.":                                        {false, false, true},
		"ERR Error running script (call to f_694a5fe1): @user_script:1: @user_script: 1: Script killed by user with SCRIPT KILL...": {false, false, true},
		"ERR Script killed by user with SCRIPT KILL":                                                                                {false, false, false},
	} {
		r, _ := redisconn.RefusalOf(redis.Error(text))
		if got := r.OfConnection(); got != want.ofConnection {
			t.Errorf("of the connection %v: %s", got, text)
		}
		if got := r.NotAllowed(); got != want.notAllowed {
			t.Errorf("not allowed %v: %s", got, text)
		}
		if got := r.Transient(); got != want.transient {
			t.Errorf("transient %v: %s", got, text)
		}
	}
}

func TestOtherErrorsAreNoRefusal(t *testing.T) {
	for _, err := range []error{nil, io.EOF, errors.New("READONLY, says somebody")} {
		r, ok := redisconn.RefusalOf(err)
		if ok || r.Passing() || r.NothingRan() || r.OfConnection() || r.Code() != "" || redisconn.IsRefusal(err) {
			t.Errorf("%v is taken for a server's answer", err)
		}
	}
}
