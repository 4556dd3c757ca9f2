package data

import (
	"encoding/binary"
	"errors"
)

// errEncoded is the error of an encoded table that Encode did not write.
var errEncoded = errors.New("the rows of the data were damaged on their way")

// Encode writes a table for a generator in another process. Its length is about that of a CSV file
// of the same values.
func (t *Table) Encode() []byte {
	b := make([]byte, 0, len(t.text)+2*len(t.ends)+1<<10)
	b = binary.AppendUvarint(b, uint64(len(t.columns)))
	for _, name := range t.columns {
		b = append(binary.AppendUvarint(b, uint64(len(name))), name...)
	}
	b = binary.AppendUvarint(b, uint64(len(t.ends)))
	from := uint32(0)
	for _, end := range t.ends {
		b = binary.AppendUvarint(b, uint64(end-from))
		from = end
	}
	return append(b, t.text...)
}

// Decode reads what Encode wrote.
func Decode(b []byte) (*Table, error) {
	damaged := false
	number := func() int {
		n, size := binary.Uvarint(b)
		if size <= 0 || n > MaxBytes {
			damaged, b = true, nil
			return 0
		}
		b = b[size:]
		return int(n)
	}
	t := &Table{}
	for range number() {
		n := number()
		if damaged || n > len(b) {
			return nil, errEncoded
		}
		t.columns, b = append(t.columns, string(b[:n])), b[n:]
	}
	values := number()
	if damaged || len(t.columns) == 0 || values == 0 || values > len(b) ||
		values%len(t.columns) != 0 {
		return nil, errEncoded
	}
	t.ends = make([]uint32, values)
	end := 0
	for i := range t.ends {
		end += number()
		if end > MaxBytes {
			return nil, errEncoded
		}
		t.ends[i] = uint32(end)
	}
	if damaged || end != len(b) {
		return nil, errEncoded
	}
	t.text = b
	return t, nil
}
