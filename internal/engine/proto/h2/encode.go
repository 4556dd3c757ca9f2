package h2

// AppendInteger appends a number whose first bits stand under mask, beside those of first.
func AppendInteger(b []byte, first, mask byte, v int) []byte {
	if v < int(mask) {
		return append(b, first|byte(v))
	}
	b = append(b, first|mask)
	for v -= int(mask); v >= 0x80; v >>= 7 {
		b = append(b, byte(v)|0x80)
	}
	return append(b, byte(v))
}

// AppendString appends s in the shorter form, plain or Huffman. Its length begins under mask,
// beside the bits of first: see DecodeString.
func AppendString(b []byte, first, mask byte, s string) []byte {
	if n := huffman.encodedSize(s); n < len(s) {
		return huffman.appendEncoded(AppendInteger(b, first|(mask+1), mask, n), s)
	}
	return append(AppendInteger(b, first, mask, len(s)), s...)
}

// appendField appends a field that does not use a dynamic table: as an index if the static table
// has it, otherwise as a literal that is never added to a table.
func appendField(b []byte, name, value string) []byte {
	i, whole := FindField(staticTable[:], name, value)
	if whole {
		return AppendInteger(b, 0x80, 0x7f, i+1)
	}
	return AppendString(appendNameAt(b, name, i+1), 0, 0x7f, value)
}

// appendName writes the name of a field whose value is to follow as a literal.
func appendName(b []byte, name string) []byte {
	i, _ := FindField(staticTable[:], name, "")
	return appendNameAt(b, name, i+1)
}

// appendNameAt writes a name that the static table has at that index from 1, or 0 if it has not.
func appendNameAt(b []byte, name string, index int) []byte {
	first := byte(0)
	if IsSecret(name) {
		first = 0x10 // nor any table further on
	}
	if b = AppendInteger(b, first, 0x0f, index); index == 0 {
		b = AppendString(b, 0, 0x7f, name)
	}
	return b
}

// IsSecret reports whether the values of fields of that name must not get into anybody's table.
func IsSecret(name string) bool {
	return name == "authorization" || name == "cookie" || name == "proxy-authorization"
}
