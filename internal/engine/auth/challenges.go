package auth

import (
	"strings"

	"github.com/icholy/digest"

	"dyno/internal/engine/loadplan"
)

// eachChallenge calls each with the Digest challenges of a field, which may have several, of any
// schemes (RFC 9110, 11.6.1). One that is malformed is left out, and others are not.
func eachChallenge(field string, each func(*digest.Challenge)) {
	var asks *digest.Challenge // nil: of another scheme, or malformed
	for rest := field; rest != ""; {
		var element string
		if element, rest = cutElement(rest); element == "" {
			continue
		}
		if scheme, parameter, is := cutScheme(element); is {
			if asks != nil {
				each(asks)
			}
			if asks = nil; strings.EqualFold(scheme, loadplan.Digest) {
				asks = new(digest.Challenge)
			}
			element = parameter
		}
		if asks != nil && element != "" && !setParameter(asks, element) {
			asks = nil
		}
	}
	if asks != nil {
		each(asks)
	}
}

const blanks = " \t"

// cutElement cuts a list behind its first element, at a comma that is in no quotes.
func cutElement(list string) (element, rest string) {
	quoted := false
	for i := 0; i < len(list); i++ {
		switch c := list[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case c == ',' && !quoted:
			return strings.Trim(list[:i], blanks), list[i+1:]
		}
	}
	return strings.Trim(list, blanks), ""
}

// cutScheme cuts an element that begins a challenge: the name of a scheme, and what follows it,
// which is a parameter or none. Any other element is NAME=VALUE.
func cutScheme(element string) (scheme, parameter string, is bool) {
	i := strings.IndexAny(element, blanks+`="`)
	if i < 0 {
		return element, "", true
	}
	parameter = strings.TrimLeft(element[i:], blanks)
	return element[:i], parameter, len(parameter) < len(element)-i && parameter[0] != '='
}

// setParameter sets a parameter, NAME=VALUE. It reports whether it is one.
func setParameter(asks *digest.Challenge, element string) bool {
	name, value, is := strings.Cut(element, "=")
	if value = strings.TrimLeft(value, blanks); strings.HasPrefix(value, `"`) {
		value, is = unquoted(value)
	} else {
		is = is && !strings.ContainsAny(value, blanks+`"`)
	}
	switch strings.ToLower(strings.TrimRight(name, blanks)) {
	case "realm":
		asks.Realm = value
	case "nonce":
		asks.Nonce = value
	case "algorithm":
		asks.Algorithm = value
	case "opaque":
		asks.Opaque = value
	case "qop": // "auth,auth-int" and "auth, auth-int" are the same
		asks.QOP = strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(", \t", r) })
	case "userhash":
		asks.Userhash = strings.EqualFold(value, "true")
	}
	return is
}

// unquoted is what a text in quotes has. It reports whether it ends with them.
func unquoted(s string) (string, bool) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return b.String(), i == len(s)-1
		case s[i] == '\\' && i+1 < len(s):
			i++
		}
		b.WriteByte(s[i])
	}
	return "", false
}
