//go:build replay

package simulation

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestReplay plays the plan that the command replay sends, and answers with the result and the history. The command
// builds it with the tag replay, natively and for its machine.
func TestReplay(t *testing.T) {
	var plan Plan
	if err := json.NewDecoder(os.Stdin).Decode(&plan); err != nil {
		t.Fatal(err)
	}
	plan.Keep = true // in any case: a play that allocates less would collect its garbage at other moments
	result := Play(t, plan)
	history := result.Log
	result.Log = nil
	answer, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("%s%s\n%s", ReplayMark, answer, strings.Join(history, "\n"))
}
