package redact

import (
	"bytes"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"dyno/internal/lazyregexp"
)

var (
	// absolute is a URL in a text. A quotation's end ends it, but for one within a password.
	absolute = lazyregexp.New(`[A-Za-z][A-Za-z0-9+.-]*://` +
		`(?:[^\s/?#@:"'<>]*:(?:[^\s/?#"'<>]|["'<>][^\s/?#"',:;}\]])*@)?[^\s"'<>]+`)
	// dialed is how drivers in Go have it: user:password@protocol(address).
	dialed = lazyregexp.New(`([\w.-]+):(\S+)(@\w+\()`)
	// reached is the same of others: user:password@host.
	reached = lazyregexp.New(`^([\w.-]+):(\S+)(@(?:[\w.-]+|\[[0-9a-fA-F:]+\])(?::\d+)?(?:/.*)?)$`)
)

// Text is a text without the secrets of the URLs in it, and of what databases are reached by.
func (r Replacer) Text(s string) string {
	if r == nil {
		return s
	}
	if strings.Contains(s, "://") {
		s = absolute().ReplaceAllStringFunc(s, r.URL)
	}
	if strings.Contains(s, "@") {
		s = dialed().ReplaceAllStringFunc(s, func(dsn string) string {
			return r.redactPassword(dialed(), dsn)
		})
	}
	return s
}

// redactPassword replaces the password of what reaches a database.
func (r Replacer) redactPassword(form *regexp.Regexp, dsn string) string {
	m := form.FindStringSubmatch(dsn)
	return m[1] + ":" + r("password", m[2]) + m[3]
}

// places are words of the names of variables that say where a database is.
var places = []string{"addr", "address", "broker", "conn", "connection", "database", "db", "dsn",
	"uri", "url"}

// redactConnection is a variable's value without the secrets of what it connects to: a URL,
// user:password@host, or settings such as "host=x password=y" and "Server=x;Password=y".
func (c commandLine) redactConnection(name, value string) string {
	if c.Replacer == nil {
		return value
	}
	place := func(word string) bool { return slices.Contains(places, word) }
	if slices.ContainsFunc(splitName(name), place) && reached().MatchString(value) &&
		!strings.Contains(value, "://") {
		return c.redactPassword(reached(), value)
	}
	return c.redactSettings(c.Text(value))
}

// URL is a URL, or a path with its query, without its credentials and without the values of the
// secret fields of its query.
func (r Replacer) URL(s string) string {
	if r == nil {
		return s
	}
	rest, fragment, hasFragment := strings.Cut(s, "#")
	rest, query, hasQuery := strings.Cut(rest, "?")
	rest = r.redactUserinfo(rest)
	if hasQuery {
		rest += "?" + r.redactForm(query)
	}
	if hasFragment {
		rest += "#" + r.redactForm(fragment)
	}
	return rest
}

// redactUserinfo takes the password out of what a URL has before its query, or a user's name
// without one, which is how some give a token.
func (r Replacer) redactUserinfo(s string) string {
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

// redactForm is a query or a form without the values of its secret fields.
func (r Replacer) redactForm(s string) string {
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
var fields = lazyregexp.New(`^[\w.~*%+\[\]-]+=[^&\s=]+(&[\w.~*%+\[\]-]+=[^&\s]*)*$`)

// isForm reports whether body is a form. Most bodies have no "=", which is found faster than it is
// missed by an expression.
func isForm(body []byte) bool { return bytes.IndexByte(body, '=') > 0 && fields().Match(body) }
