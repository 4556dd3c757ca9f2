package redact

import (
	"net/url"
	"regexp"
	"strings"
)

// absolute is a URL in a text.
var absolute = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s"'<>]+`)

// Text is a text without the secrets of the URLs in it.
func (r Replacer) Text(s string) string {
	if r == nil || !strings.Contains(s, "://") {
		return s
	}
	return absolute.ReplaceAllStringFunc(s, r.URL)
}

// URL is a URL, or a path with its query, without its credentials and without the values of the
// secret fields of its query.
func (r Replacer) URL(s string) string {
	if r == nil {
		return s
	}
	rest, fragment, hasFragment := strings.Cut(s, "#")
	rest, query, hasQuery := strings.Cut(rest, "?")
	rest = r.userinfo(rest)
	if hasQuery {
		rest += "?" + r.form(query)
	}
	if hasFragment {
		rest += "#" + r.form(fragment)
	}
	return rest
}

// userinfo takes the password out of what a URL has before its query, or a user's name without
// one, which is how some give a token.
func (r Replacer) userinfo(s string) string {
	scheme, rest, found := strings.Cut(s, "://")
	if !found {
		return s
	}
	authority, path, hasPath := strings.Cut(rest, "/")
	at := strings.LastIndexByte(authority, '@')
	if at < 0 {
		return s
	}
	user, password, both := strings.Cut(authority[:at], ":")
	if both {
		user += ":" + r("password", password)
	} else {
		user = r("user", user)
	}
	s = scheme + "://" + user + authority[at:]
	if hasPath {
		s += "/" + path
	}
	return s
}

// form is a query or a form without the values of its secret fields.
func (r Replacer) form(s string) string {
	parts := strings.Split(s, "&")
	for i, part := range parts {
		name, value, found := strings.Cut(part, "=")
		if !found {
			continue
		}
		plain, err := url.QueryUnescape(name)
		if err != nil {
			plain = name
		}
		if Secret(plain) {
			value = r(plain, value)
		} else {
			value = r.Text(value)
		}
		parts[i] = name + "=" + value
	}
	return strings.Join(parts, "&")
}

// fields is a form of at least one field, and of nothing else.
var fields = regexp.MustCompile(`^[\w.~*%+\[\]-]+=[^&\s=]+(&[\w.~*%+\[\]-]+=[^&\s]*)*$`)
