package lab

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"dyno/internal/lab/experiment"
)

// FileName is the name of a file, without its suffix, for an arm, a level, a process or the like:
// r002-go@c16. Different kinds and parts have different names, because a kind contains no -, and
// SafeName removes @ from parts.
func FileName(kind string, parts ...string) string {
	all := make([]string, len(parts))
	for i, p := range parts {
		all[i] = ShortName(SafeName(p))
	}
	return kind + "-" + strings.Join(all, PartMark)
}

// PartMark separates the parts of a file's name.
const PartMark = "@"

// partMax is how many bytes a part of a file's name has at most. Three such parts, a kind, an
// attempt and a suffix fit into the 255 bytes of a file name.
const partMax = 76

// ShortName shortens a part of a file's name to partMax. It replaces the rest by ~ and the
// beginning of its SHA-256. No other part contains ~.
func ShortName(part string) string {
	if len(part) <= partMax {
		return part
	}
	const digits = 16
	sum := sha256.Sum256([]byte(part))
	return part[:partMax-digits-1] + "~" + hex.EncodeToString(sum[:])[:digits]
}

// SafeName converts a name into a part of a file name. Different names have different parts.
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

// ControlMark is the ending of a control's name.
const ControlMark = experiment.ControlMark
