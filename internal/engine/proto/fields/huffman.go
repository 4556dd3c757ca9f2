package fields

// codeLengths is how many bits each byte takes in the Huffman code of HPACK and QPACK, which is
// canonical: the codes follow from their lengths (RFC 7541, appendix B).
var codeLengths = [256]uint8{
	13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28,
	28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
	6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
	5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
	13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
	7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
	15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5,
	6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
	20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
	24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
	22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23,
	21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
	26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25,
	19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
	20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
	26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
}

const (
	shortCode = 8  // bits: codes up to it are looked up, longer ones searched by length
	longCode  = 30 // bits of the longest, one of which ends a string and must not occur
)

// huffman is the code, as both directions need it.
var huffman = newHuffmanCode()

type code struct {
	codes [256]uint32
	short [1 << shortCode]struct{ symbol, bits uint8 } // by the next bits; bits 0: a longer code
	long  [longCode + 1]struct {
		first, count uint32
		symbols      []uint8
	}
}

func newHuffmanCode() (c code) {
	next := uint32(0)
	for bits := uint8(1); bits <= longCode; bits++ {
		next <<= 1
		l := &c.long[bits]
		l.first = next
		for symbol, n := range codeLengths {
			if n != bits {
				continue
			}
			c.codes[symbol] = next
			l.symbols = append(l.symbols, uint8(symbol))
			if bits <= shortCode {
				from := next << (shortCode - bits)
				for i := range uint32(1) << (shortCode - bits) {
					c.short[from+i].symbol, c.short[from+i].bits = uint8(symbol), bits
				}
			}
			next++
		}
		l.count = next - l.first
	}
	return c
}

// decodeHuffman appends the text that src encodes. It reports false if it encodes none.
func (c *code) decodeHuffman(dst, src []byte) ([]byte, bool) {
	var acc uint64 // its low bits are not decoded yet
	bits := 0
	for _, x := range src {
		acc, bits = acc<<8|uint64(x), bits+8
		for bits >= shortCode {
			if s := c.short[uint8(acc>>(bits-shortCode))]; s.bits > 0 {
				dst, bits = append(dst, s.symbol), bits-int(s.bits)
				continue
			}
			symbol, n := c.findSymbol(acc, bits)
			if n == 0 && bits >= longCode {
				return dst, false
			}
			if n == 0 {
				break
			}
			dst, bits = append(dst, symbol), bits-n
		}
	}
	for bits > 0 && bits < shortCode {
		s := c.short[uint8(acc<<(shortCode-bits))]
		if s.bits == 0 || int(s.bits) > bits {
			break
		}
		dst, bits = append(dst, s.symbol), bits-int(s.bits)
	}
	padding := uint64(1)<<bits - 1
	return dst, bits < 8 && acc&padding == padding
}

// findSymbol finds a long code at the front of the low bits of acc; n is 0 if the code is longer
// than bits.
func (c *code) findSymbol(acc uint64, bits int) (symbol uint8, n int) {
	for n = shortCode + 1; n <= min(bits, longCode); n++ {
		l := &c.long[n]
		if i := uint32(acc>>(bits-n))&(1<<n-1) - l.first; i < l.count {
			return l.symbols[i], n
		}
	}
	return 0, 0
}

// encodedSize is how many bytes s takes when encoded.
func (c *code) encodedSize(s []byte) int {
	bits := 0
	for i := range len(s) {
		bits += int(codeLengths[s[i]])
	}
	return (bits + 7) / 8
}

func (c *code) appendEncoded(b, s []byte) []byte {
	acc, bits := uint64(0), 0
	for i := range len(s) {
		n := int(codeLengths[s[i]])
		acc, bits = acc<<n|uint64(c.codes[s[i]]), bits+n
		for ; bits >= 8; bits -= 8 {
			b = append(b, byte(acc>>(bits-8)))
		}
	}
	if bits > 0 {
		b = append(b, byte(acc<<(8-bits))|0xff>>bits)
	}
	return b
}
