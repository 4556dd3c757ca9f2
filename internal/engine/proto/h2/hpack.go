package h2

import (
	"bytes"
	"errors"
	"math"

	"dyno/internal/engine/proto"
)

// The decoder keeps no text. Only two header fields matter here. Of all others it needs to know
// whether HTTP/2 allows them, and their length, which decides what fits into the peer's dynamic
// table. So an entry is a few numbers.

// A Field is a header field without its text.
type Field struct {
	value int64  // of :status and content-length; -1: not a number
	size  uint32 // as HPACK counts: name and value, and 32 for an entry
	name  uint32 // bytes of the name
	kind  kind
	bad   bool // its value is not allowed
}

type kind uint8

const (
	other kind = iota
	status
	length
	pseudo    // a pseudo-header field that responses do not have
	forbidden // a name that HTTP/2 does not allow
)

const overhead = 32 // bytes that a table entry counts for beside its text

// FieldOf is the field of that name, without a value.
func FieldOf(name []byte) Field {
	f := Field{name: uint32(len(name))}
	switch string(name) {
	case ":status":
		f.kind = status
	case "content-length":
		f.kind = length
	case "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade":
		f.kind = forbidden
	default:
		if len(name) > 0 && name[0] == ':' {
			f.kind = pseudo
		} else if !isLowerToken(name) {
			f.kind = forbidden
		}
	}
	return f
}

// withValue is f with another value.
func (f Field) withValue(value []byte) Field { return f.With(value, isClean(value)) }

// With is f with another value, which is allowed or not.
func (f Field) With(value []byte, allowed bool) Field {
	f.size = f.name + uint32(len(value)) + overhead
	f.bad = !allowed
	if f.value = 0; f.kind == status || f.kind == length {
		f.value = parseDecimal(value)
	}
	if f.kind == status && (len(value) != 3 || f.value < 100) {
		f.value = -1
	}
	return f
}

func isLowerToken(b []byte) bool {
	for _, x := range b {
		switch {
		case 'a' <= x && x <= 'z', '0' <= x && x <= '9', x == '-', x == '_':
		case bytes.IndexByte(symbols, x) >= 0:
		default:
			return false
		}
	}
	return len(b) > 0
}

var symbols = []byte("!#$%&'*+.^`|~")

// isClean reports whether HTTP/2 allows b as a value.
func isClean(b []byte) bool {
	for _, x := range b {
		if x == 0 || x == '\r' || x == '\n' {
			return false
		}
	}
	n := len(b)
	return n == 0 || !isBlank(b[0]) && !isBlank(b[n-1])
}

func isBlank(x byte) bool { return x == ' ' || x == '\t' }

func parseDecimal(b []byte) (v int64) {
	for _, x := range b {
		if x -= '0'; x > 9 || v > math.MaxInt64/10-1 {
			return -1
		}
		v = v*10 + int64(x)
	}
	if len(b) == 0 {
		return -1
	}
	return v
}

// A Header is the meaning of a header block, in HTTP/2 and HTTP/3.
type Header struct {
	Status  uint16 // 0: none
	regular bool   // it has fields that are not pseudo-header fields
	Size    int    // of the list, as HPACK counts
	Length  int64  // content-length; -1: none, which it must be before the first field
	Wrong   string // the first violation of HTTP, or ""
}

// SetField adds a field.
func (h *Header) SetField(f *Field) {
	h.Size += int(f.size)
	wrong := ""
	switch f.kind {
	case status:
		switch {
		case f.value < 0:
			wrong = "its :status is not a status code"
		case h.Status != 0:
			wrong = "it has two fields :status"
		case h.regular:
			wrong = ":status comes after other fields"
		default:
			h.Status = uint16(f.value)
		}
	case pseudo:
		wrong = "it has a pseudo-header field that no response has"
	case forbidden:
		wrong = "it has a field whose name HTTP/2 and HTTP/3 do not allow"
	case length:
		if f.value < 0 || h.Length >= 0 && h.Length != f.value {
			wrong = "its content-length is not one number"
		}
		h.Length = f.value
	}
	if f.bad {
		wrong = "it has a field whose value HTTP does not allow"
	}
	h.regular = h.regular || f.kind != status
	if h.Wrong == "" {
		h.Wrong = wrong
	}
}

// A table is the dynamic table of the peer's encoder: a ring, newest at head.
type table struct {
	entries     []Field
	texts       *texts // of the entries, if a sink wants fields; nil: none is kept
	head, count int
	size, max   int // bytes, as HPACK counts
	limit       int // which max may have
}

// defaultTable is the size of both tables until a peer changes it. We never offer more, so there
// are never more entries than fit into it.
const (
	defaultTable = 4096
	maxEntries   = defaultTable / overhead // a power of two
)

func newTable() table {
	return table{entries: make([]Field, maxEntries), max: defaultTable, limit: defaultTable}
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
func (t *table) addField(f *Field, name, value []byte) {
	if int(f.size) > t.max {
		t.count, t.size = 0, 0
		return
	}
	t.evictDownTo(t.max - int(f.size))
	t.head = int(uint(t.head+1) % maxEntries)
	t.entries[t.head] = *f
	if t.texts != nil {
		t.texts.putText(t.head, name, value)
	}
	t.count++
	t.size += int(f.size)
}

// evictDownTo removes the oldest entries until at most size bytes are left.
func (t *table) evictDownTo(size int) {
	for t.size > size {
		t.size -= int(t.entries[uint(t.head-t.count+1+maxEntries)%maxEntries].size)
		t.count--
	}
}

func (t *table) resizeTable(max int) {
	t.max = max
	t.evictDownTo(max)
}

// fieldAt is the field with an HPACK index, from 1, or nil. It is valid until the next entry is
// added.
func (t *table) fieldAt(i int) *Field {
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
	errInteger = errors.New("a number is cut or beyond all reason")
	errIndex   = errors.New("an index is beyond the table's end")
	errString  = errors.New("a string is longer than the block")
	errHuffman = errors.New("a string is not in Huffman code")
	errUpdate  = errors.New("a change of the table's size is out of place or beyond the limit")
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
	name    []byte  // of a literal, while its value is decoded
	inserts []Field // by the block that is being decoded
	pure    bool    // it has not used the table
	known   struct {
		block   []byte
		inserts []Field
		header  Header
	}
}

const knownMax = 1 << 10 // bytes of a block that are kept, and compared in vain

// decodeBlock decodes a complete header block. After an error the connection cannot continue.
func (d *decoder) decodeBlock(b []byte) (h Header, err error) {
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
func (d *decoder) decodeField(b []byte, h *Header) (int, error) {
	switch x := b[0]; {
	case x&0x80 != 0:
		i, n := ParseInteger(b, 0x7f)
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
		size, n := ParseInteger(b, 0x1f)
		if n == 0 || size > d.limit || h.Size > 0 {
			return 0, errUpdate
		}
		d.pure = false
		d.resizeTable(size)
		return n, nil
	}
	return d.decodeLiteral(b, 0x0f, h)
}

func (d *decoder) indexedField(i int) *Field {
	d.pure = d.pure && i < len(staticFields)
	return d.fieldAt(i)
}

// decodeLiteral decodes a field whose value, or name and value, is a literal.
func (d *decoder) decodeLiteral(b []byte, mask byte, h *Header) (int, error) {
	i, n := ParseInteger(b, mask)
	if n == 0 {
		return 0, errInteger
	}
	var f Field
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
		f = FieldOf(s)
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
	f = f.withValue(value)
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
	return DecodeString(b, 0x7f, &d.text)
}

// DecodeString decodes the string at the front of b, and returns its length there. Mask has the
// bits of its length in the first byte; the bit above them says that it is in Huffman code. Then s
// is in text, which is overwritten.
func DecodeString(b []byte, mask byte, text *[]byte) (s []byte, n int, err error) {
	size, n := ParseInteger(b, mask)
	switch {
	case n == 0:
		return nil, 0, errInteger
	case size > len(b)-n:
		return nil, 0, errString
	}
	s = b[n : n+size]
	if b[0]&(mask+1) != 0 {
		var ok bool
		if *text, ok = huffman.decodeHuffman((*text)[:0], s); !ok {
			return nil, 0, errHuffman
		}
		s = *text
	}
	return s, n + size, nil
}

// ParseInteger parses a number whose first bits are under mask. n is its length in bytes: 0 if it
// is incomplete or above all limits.
func ParseInteger(b []byte, mask byte) (v, n int) {
	if len(b) == 0 {
		return 0, 0
	}
	if v = int(b[0] & mask); v < int(mask) {
		return v, 1
	}
	for n = 1; n < len(b) && n <= 4; n++ {
		v += int(b[n]&0x7f) << (7 * (n - 1))
		if b[n] < 0x80 {
			return v, n + 1
		}
	}
	return 0, 0
}
