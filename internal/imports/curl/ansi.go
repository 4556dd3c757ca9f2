package curl

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// ansiUnquote is the text of $'…', in which bash has the escapes of C. Browsers write commands with
// it.
func ansiUnquote(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		if j := strings.IndexByte("abeEfnrtv", s[i]); j >= 0 {
			b.WriteByte("\a\b\x1b\x1b\f\n\r\t\v"[j])
			continue
		}
		most, base := 0, 16
		switch s[i] {
		case 'x':
			most = 2
		case 'u':
			most = 4
		case 'U':
			most = 8
		case '0', '1', '2', '3', '4', '5', '6', '7':
			most, base = 3, 8
			i--
		}
		n := 0
		for n < most && i+1+n < len(s) && digit(s[i+1+n]) < base {
			n++
		}
		switch code, err := strconv.ParseUint(s[i+1:i+1+n], base, 32); {
		case most == 0 && strings.IndexByte("'\"\\?", s[i]) >= 0:
			b.WriteByte(s[i])
		case n == 0 || err != nil:
			b.WriteString(s[i-1 : i+1])
		case most <= 3:
			b.WriteByte(byte(code))
		default:
			b.Write(utf8.AppendRune(nil, rune(code)))
		}
		i += n
	}
	return b.String()
}

// digit is the value of a hexadecimal digit; 16 of anything else.
func digit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return 16
}
