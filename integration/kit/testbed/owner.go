package testbed

import (
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/rlock-go/redisson/rlock"
)

// Field is an owner as the server shows it. Owner.String would mark the owner as given away, and the client could then
// not judge a lost re-entry by its count. Formatting with the verb d shows the numbers without String.
func Field(o rlock.Owner) string {
	var id uuid.UUID
	var thread int64
	words := strings.Fields(strings.NewReplacer("{", " ", "[", " ", "]", " ", "}", " ").Replace(fmt.Sprintf("%d", o)))
	for i, word := range words[:len(words)-1] {
		if _, err := fmt.Sscan(word, &id[i]); err != nil {
			panic(err)
		}
	}
	if _, err := fmt.Sscan(words[len(words)-1], &thread); err != nil {
		panic(err)
	}
	return fmt.Sprintf("%v:%d", id, thread)
}

// Holder is a hold's owner as the hold prints it. Hold.Owner would mark the owner as given away, which changes the
// unlock.
func Holder(h *rlock.Hold) string {
	text := h.String()
	return strings.TrimSuffix(text[strings.LastIndex(text, ", ")+len(", "):], ")")
}
