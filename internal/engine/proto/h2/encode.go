package h2

import "dyno/internal/engine/proto/fields"

// A coding is HPACK.
type coding struct{}

func (coding) AppendField(b, name, value []byte) []byte {
	i, whole := fields.Find(staticTable[:], name, value)
	if whole {
		return fields.AppendInteger(b, 0x80, 0x7f, i+1)
	}
	return fields.AppendString(appendNameAt(b, name, i+1), 0, 0x7f, value)
}

func (coding) AppendName(b, name []byte) []byte {
	i, _ := fields.Find(staticTable[:], name, nil)
	return appendNameAt(b, name, i+1)
}

// appendNameAt writes a name that the static table has at that index from 1, or 0 if it has not.
func appendNameAt(b, name []byte, index int) []byte {
	first := byte(0)
	if fields.IsSecret(name) {
		first = 0x10 // nor any table further on
	}
	if b = fields.AppendInteger(b, first, 0x0f, index); index == 0 {
		b = fields.AppendString(b, 0, 0x7f, name)
	}
	return b
}
