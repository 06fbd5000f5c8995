package codec

import "strings"

// slotCount is the number of hash slots of every Redis Cluster.
const slotCount = 16384

// Slot is the cluster slot of key: CRC-16/XMODEM of its hash tag, or of the whole
// key if it has none, modulo 16384. The tag is the text between the first "{" and
// the first "}" after it, if it is not empty.
func Slot(key string) uint16 {
	if tag, ok := hashTag(key); ok {
		key = tag
	}
	var crc uint16
	for i := range len(key) {
		crc = crc<<8 ^ crcTable[byte(crc>>8)^key[i]]
	}
	return crc % slotCount
}

// SlotSafe tells whether key, its [Channel] and every [Latch] of it share a
// slot, as the unlock script needs in a cluster. Most names do. Those with a
// brace but no proper hash tag, such as "a{b", "a}b", "}b" and "{}a", do not:
// in a cluster Redisson can lock but not unlock them (CROSSSLOT). On a single
// server the result does not matter.
func SlotSafe(key string) bool {
	channel, latch := Channel(key), Latch(key, "")
	// Without a tag the latch's slot would change with its id.
	if _, ok := hashTag(latch); !ok {
		return false
	}
	slot := Slot(key)
	return slot == Slot(channel) && slot == Slot(latch)
}

func hashTag(key string) (string, bool) {
	_, rest, ok := strings.Cut(key, "{")
	if !ok {
		return "", false
	}
	tag, _, ok := strings.Cut(rest, "}")
	return tag, ok && tag != ""
}

// crcTable is the remainder of each byte by the polynomial x¹⁶+x¹²+x⁵+1.
var crcTable = func() (table [256]uint16) {
	const polynomial = 0x1021
	for i := range table {
		crc := uint16(i) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ polynomial
			} else {
				crc <<= 1
			}
		}
		table[i] = crc
	}
	return table
}()
