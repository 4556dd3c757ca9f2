package h2

import (
	"bytes"
	"errors"

	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/fields"
)

// The decoder keeps no text. Only two header fields matter here. Of all others it needs to know
// whether HTTP/2 allows them, and their length, which decides what fits into the peer's dynamic
// table. So an entry is a few numbers.

// A table is the dynamic table of the peer's encoder: a ring, newest at head.
type table struct {
	entries     []fields.Field
	texts       *texts // of the entries, if a sink wants fields; nil: none is kept
	head, count int
	size, max   int // bytes, as HPACK counts
	limit       int // which max may have
}

// defaultTable is the size of both tables until a peer changes it. We never offer more, so there
// are never more entries than fit into it.
const (
	defaultTable = 4096
	maxEntries   = defaultTable / fields.Overhead // a power of two
)

func newTable() table {
	return table{entries: make([]fields.Field, maxEntries), max: defaultTable, limit: defaultTable}
}

// A text is what a field's numbers are of.
type text struct{ name, value []byte }

// A texts has the texts of a table's entries, in a ring of memory. The entries of a table have
// defaultTable bytes at most, and the end of the ring that is too short for one has fewer: so what
// is twice as long never overwrites an entry.
type texts struct {
	of     [maxEntries]text
	memory [2 * defaultTable]byte
	next   int
}

// putText keeps the text of the entry at head.
func (t *texts) putText(head int, name, value []byte) {
	if t.next+len(name)+len(value) > len(t.memory) {
		t.next = 0
	}
	b := t.memory[t.next:]
	n := copy(b, name)
	m := copy(b[n:], value)
	t.of[head] = text{b[:n], b[n : n+m]}
	t.next += n + m
}

// addField adds a field, and its text if texts are kept.
func (t *table) addField(f *fields.Field, name, value []byte) {
	if int(f.Size) > t.max {
		t.count, t.size = 0, 0
		return
	}
	t.evictDownTo(t.max - int(f.Size))
	t.head = int(uint(t.head+1) % maxEntries)
	t.entries[t.head] = *f
	if t.texts != nil {
		t.texts.putText(t.head, name, value)
	}
	t.count++
	t.size += int(f.Size)
}

// evictDownTo removes the oldest entries until at most size bytes are left.
func (t *table) evictDownTo(size int) {
	for t.size > size {
		t.size -= int(t.entries[uint(t.head-t.count+1+maxEntries)%maxEntries].Size)
		t.count--
	}
}

func (t *table) resizeTable(max int) {
	t.max = max
	t.evictDownTo(max)
}

// fieldAt is the field with an HPACK index, from 1, or nil. It is valid until the next entry is
// added.
func (t *table) fieldAt(i int) *fields.Field {
	if i < len(staticFields) {
		return &staticFields[i]
	}
	if i -= len(staticFields); i >= t.count {
		return nil
	}
	return &t.entries[uint(t.head-i+maxEntries)%maxEntries]
}

// textAt is the text of the field with an HPACK index from 1, which fieldAt has found. It is good
// until the next is added.
func (t *table) textAt(i int) (name, value []byte) {
	if i < len(staticFields) {
		return staticTexts[i].name, staticTexts[i].value
	}
	at := &t.texts.of[uint(t.head-(i-len(staticFields))+maxEntries)%maxEntries]
	return at.name, at.value
}

var (
	errIndex  = errors.New("an index is beyond the table's end")
	errUpdate = errors.New("a change of the table's size is out of place or beyond the limit")
)

// A decoder is the state of a connection; scratch is shared by all connections.
type decoder struct {
	table
	*scratch
	sink proto.Sink // nil: nothing is wanted
	want *proto.Want

	// Of the block that is being decoded.
	wanting bool // the sink is given its fields
	trailer bool
	tag     uint32
}

func newDecoder(s *scratch, want *proto.Want, sink proto.Sink) decoder {
	d := decoder{table: newTable(), scratch: s, sink: sink, want: want}
	if sink != nil && want.WantsFields() {
		d.texts = new(texts)
	}
	return d
}

// scratch is the memory that decoders need while they decode, and the last block that did not
// depend on the table. Most responses of a server begin with the same bytes until its clock
// advances. Comparing, and applying the block's changes to the table, takes a tenth of the time.
type scratch struct {
	text    []byte
	name    []byte         // of a literal, while its value is decoded
	inserts []fields.Field // by the block that is being decoded
	pure    bool           // it has not used the table
	known   struct {
		block   []byte
		inserts []fields.Field
		header  fields.Header
	}
}

const knownMax = 1 << 10 // bytes of a block that are kept, and compared in vain

// decodeBlock decodes a complete header block. After an error the connection cannot continue.
func (d *decoder) decodeBlock(b []byte) (h fields.Header, err error) {
	if k := &d.known; len(b) > 0 && d.texts == nil && bytes.Equal(b, k.block) {
		for i := range k.inserts {
			d.addField(&k.inserts[i], nil, nil)
		}
		return k.header, nil
	}
	d.pure, d.inserts = true, d.inserts[:0]
	h.Length = -1
	for rest := b; len(rest) > 0; {
		n, err := d.decodeField(rest, &h)
		if err != nil {
			return h, err
		}
		rest = rest[n:]
	}
	if k := &d.known; d.pure && d.texts == nil && len(b) <= knownMax {
		k.block = append(k.block[:0], b...)
		k.inserts, d.inserts = d.inserts, k.inserts
		k.header = h
	}
	return h, nil
}

// decodeField decodes the field at the front of b, and returns its length.
func (d *decoder) decodeField(b []byte, h *fields.Header) (int, error) {
	switch x := b[0]; {
	case x&0x80 != 0:
		i, n := fields.ParseInteger(b, 0x7f)
		f := d.indexedField(i)
		if i == 0 || f == nil {
			return 0, errIndex
		}
		h.SetField(f)
		if d.wanting {
			name, value := d.textAt(i)
			d.giveField(h, name, value)
		}
		return n, nil
	case x&0x40 != 0:
		return d.decodeLiteral(b, 0x3f, h)
	case x&0x20 != 0:
		size, n := fields.ParseInteger(b, 0x1f)
		if n == 0 || size > d.limit || h.Size > 0 {
			return 0, errUpdate
		}
		d.pure = false
		d.resizeTable(size)
		return n, nil
	}
	return d.decodeLiteral(b, 0x0f, h)
}

func (d *decoder) indexedField(i int) *fields.Field {
	d.pure = d.pure && i < len(staticFields)
	return d.fieldAt(i)
}

// decodeLiteral decodes a field whose value, or name and value, is a literal.
func (d *decoder) decodeLiteral(b []byte, mask byte, h *fields.Header) (int, error) {
	i, n := fields.ParseInteger(b, mask)
	if n == 0 {
		return 0, fields.ErrInteger
	}
	var f fields.Field
	var name []byte
	if i > 0 {
		known := d.indexedField(i)
		if known == nil {
			return 0, errIndex
		}
		f = *known
		if d.texts != nil {
			name, _ = d.textAt(i)
		}
	} else {
		s, k, err := d.decodeString(b[n:])
		if err != nil {
			return 0, err
		}
		n += k
		f = fields.Named(s)
		name = s
	}
	if d.texts != nil { // the value takes the memory of its text
		d.name = append(d.name[:0], name...)
		name = d.name
	}
	value, k, err := d.decodeString(b[n:])
	if err != nil {
		return 0, err
	}
	f = f.With(value)
	h.SetField(&f)
	if d.wanting {
		d.giveField(h, name, value)
	}
	if mask == 0x3f {
		d.addField(&f, name, value)
		if d.pure {
			d.inserts = append(d.inserts, f)
		}
	}
	return n + k, nil
}

// decodeString decodes a string, which is valid until the next one, and returns its length in b.
func (d *decoder) decodeString(b []byte) (s []byte, n int, err error) {
	return fields.DecodeString(b, 0x7f, &d.text)
}
