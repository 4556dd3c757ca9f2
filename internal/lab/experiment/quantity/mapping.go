package quantity

import (
	"bytes"
	"encoding/json"
)

// A Mapping is a YAML mapping whose keys the file chooses, in the file's order.
type Mapping[T any] []Entry[T]

// An Entry is a key of a Mapping and its value.
type Entry[T any] struct {
	Name  string
	Value T
}

// Get is the value of a name.
func (m Mapping[T]) Get(name string) (value T, found bool) {
	for _, e := range m {
		if e.Name == name {
			return e.Value, true
		}
	}
	return value, false
}

// Names are the keys, in order.
func (m Mapping[T]) Names() []string {
	names := make([]string, len(m))
	for i, e := range m {
		names[i] = e.Name
	}
	return names
}

// MarshalJSON writes an object in the same order.
func (m Mapping[T]) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, e := range m {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(e.Name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(e.Value)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Add appends an entry without a value, and returns a pointer to the value.
func (m *Mapping[T]) Add(name string) any {
	*m = append(*m, Entry[T]{Name: name})
	return &(*m)[len(*m)-1].Value
}
