package lab

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// FileName is the name of what is kept of an arm, a level, a process or whatever else parts
// name, without its suffix: r002-go@c16. No two lists of parts have the same name, because a
// kind has no -, and a part as safe writes it has no @.
func FileName(kind string, parts ...string) string {
	all := make([]string, len(parts))
	for i, p := range parts {
		all[i] = ShortName(SafeName(p))
	}
	return kind + "-" + strings.Join(all, PartMark)
}

// PartMark is between the parts of a file's name.
const PartMark = "@"

// partMax is how many bytes a part of a file's name has at most: three such parts, a kind, an
// attempt and a suffix fit into the 255 bytes of a file's name.
const partMax = 76

// ShortName is a part of a file's name cut to partMax, with the beginning of its SHA-256 for what
// is cut off, after a ~ that no other part has.
func ShortName(part string) string {
	if len(part) <= partMax {
		return part
	}
	const digits = 16
	sum := sha256.Sum256([]byte(part))
	return part[:partMax-digits-1] + "~" + hex.EncodeToString(sum[:])[:digits]
}

// SafeName is a name as a part of a file's; no two names have the same.
func SafeName(name string) string {
	var b strings.Builder
	for _, c := range []byte(name) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9',
			c == '.', c == '=', c == '-':
			b.WriteByte(c)
		case c == ' ':
			b.WriteByte('+')
		default:
			fmt.Fprintf(&b, "_%02x", c)
		}
	}
	return b.String()
}

// ControlMark is what the name of a control ends with.
const ControlMark = " (A/A)"
