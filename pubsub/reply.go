package pubsub

import "errors"

// reply is a decoded reply of the server. The connection speaks RESP2, where
// answers and messages come in one stream and differ by their first element
// only.
type reply struct {
	kind    replyKind
	sharded bool // it is about a sharded channel
	channel []byte
	payload []byte
	keys    [][]byte // of an invalidation, in place of payload; nil for all
}

type replyKind uint8

const (
	replyOther        replyKind = iota // something that concerns nobody here
	replyMessage                       // message, smessage
	replySubscribed                    // subscribe, ssubscribe
	replyUnsubscribed                  // unsubscribe, sunsubscribe
	replyPong                          // +PONG, or an array while something is subscribed
)

var errShape = errors.New("pubsub: unexpected answer: wrong shape")

// decode reads what redigo returned. It fails if a known kind has the wrong
// elements, and if the answer to a command is unknown: then no later answer can
// be matched to its command.
func decode(v any) (reply, error) {
	switch v := v.(type) {
	case string:
		if v == "PONG" {
			return reply{kind: replyPong}, nil
		}
	case []any:
		return decodePush(v)
	}
	return reply{}, errShape
}

func decodePush(v []any) (reply, error) {
	if len(v) == 0 {
		return reply{}, errShape
	}
	first, ok := text(v[0])
	if !ok {
		return reply{}, errShape
	}
	var r reply
	switch string(first) {
	case "message", "smessage":
		r.kind = replyMessage
	case "subscribe", "ssubscribe":
		r.kind = replySubscribed
	case "unsubscribe", "sunsubscribe":
		r.kind = replyUnsubscribed
	case "pong":
		return reply{kind: replyPong}, nil
	default:
		return reply{kind: replyOther}, nil
	}
	r.sharded = first[0] == 's' && string(first) != "subscribe"
	if len(v) != 3 {
		return reply{}, errShape
	}
	if r.channel, ok = text(v[1]); !ok {
		// UNSUBSCRIBE without channels, when there are none, names nil. It is
		// never sent here.
		return reply{}, errShape
	}
	if r.kind == replyMessage {
		if keys, list := v[2].([]any); list || v[2] == nil {
			err := r.invalidates(keys)
			return r, err
		}
		if r.payload, ok = text(v[2]); !ok {
			return reply{}, errShape
		}
	}
	return r, nil
}

// invalidates takes the keys of a message in which a server tells of changes of what
// other connections have read (CLIENT TRACKING … REDIRECT). With nil all have changed.
func (r *reply) invalidates(keys []any) error {
	for _, k := range keys {
		key, ok := text(k)
		if !ok {
			return errShape
		}
		r.keys = append(r.keys, key)
	}
	if len(keys) == 0 {
		r.keys = [][]byte{nil}
	}
	return nil
}

// text accepts both string types of the protocol.
func text(v any) ([]byte, bool) {
	switch v := v.(type) {
	case []byte:
		return v, true
	case string:
		return []byte(v), true
	}
	return nil, false
}
