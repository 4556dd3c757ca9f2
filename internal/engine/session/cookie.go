package session

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxCookies is how many cookies a user keeps: as many as curl, which hurl uses, sends at once. A
// further one takes the place of the oldest.
const maxCookies = 150

// A jar has the cookies of one user in one iteration, in the order in which curl sends them: those
// of longer paths first, then those with longer names, then the older ones. The run has one origin,
// so that a cookie needs no host.
type jar struct {
	all  []cookie
	used int // of all; the memory of the others is used again
	made int64
}

// A cookie is one that a response has set.
type cookie struct {
	name, value, path []byte
	secure            bool
	made              int64 // after how many others
}

// A setCookie is what a Set-Cookie header says. Its texts are the header's.
type setCookie struct {
	name, value  []byte
	attributes   []byte // behind the first semicolon
	expires      int64  // in s since the Unix epoch
	hasExpires   bool
	maxAge       int64
	hasMaxAge    bool
	domain, path []byte
	secure       bool
	httpOnly     bool
	sameSite     []byte
}

// parseSetCookie parses a Set-Cookie header; ok is false if it sets nothing.
func parseSetCookie(header []byte) (c setCookie, ok bool) {
	pair, rest, _ := bytes.Cut(header, []byte(";"))
	name, value, has := bytes.Cut(pair, []byte("="))
	c.name, c.value, c.attributes = bytes.TrimSpace(name), bytes.TrimSpace(value), rest
	if !has || len(c.name) == 0 {
		return c, false
	}
	for len(rest) > 0 {
		var one []byte
		one, rest, _ = bytes.Cut(rest, []byte(";"))
		key, v, _ := bytes.Cut(one, []byte("="))
		key, v = bytes.TrimSpace(key), bytes.TrimSpace(v)
		switch {
		case equalFold(key, "expires"):
			if t, err := parseDate(string(v)); err == nil {
				c.expires, c.hasExpires = t.Unix(), true
			}
		case equalFold(key, "max-age"):
			if n, err := strconv.ParseInt(string(v), 10, 64); err == nil {
				c.maxAge, c.hasMaxAge = n, true
			}
		case equalFold(key, "domain"):
			c.domain = v
		case equalFold(key, "path"):
			c.path = v
		case equalFold(key, "secure"):
			c.secure = true
		case equalFold(key, "httponly"):
			c.httpOnly = true
		case equalFold(key, "samesite"):
			c.sameSite = v
		}
	}
	return c, true
}

// equalFold reports whether b is the lower-case text s in any case.
func equalFold(b []byte, s string) bool {
	if len(b) != len(s) {
		return false
	}
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		if c != s[i] {
			return false
		}
	}
	return true
}

// dateLayouts are the forms in which servers write the date of a cookie.
var dateLayouts = []string{time.RFC1123, "Mon, 02-Jan-2006 15:04:05 MST",
	"Mon, 02-Jan-06 15:04:05 MST", time.RFC850, time.ANSIC, time.RFC1123Z, time.RFC3339}

func parseDate(s string) (t time.Time, err error) {
	for _, layout := range dateLayouts {
		if t, err = time.Parse(layout, s); err == nil {
			break
		}
	}
	return t, err
}

// reset forgets all cookies.
func (j *jar) reset() { j.used = 0 }

// origin is what a jar has to know of the server.
type origin struct {
	host   string // without port, in lower case
	secure bool   // https
}

// set does what a Set-Cookie header of a response to a request of that path says. now is in s since
// the Unix epoch.
func (j *jar) set(header []byte, from *origin, requestPath []byte, now int64) {
	c, ok := parseSetCookie(header)
	if !ok || c.secure && !from.secure || !from.isWithin(c.domain) {
		return
	}
	if len(c.path) == 0 || c.path[0] != '/' {
		c.path = directory(requestPath)
	}
	i := slices.IndexFunc(j.all[:j.used], func(k cookie) bool {
		return bytes.Equal(k.name, c.name) && bytes.Equal(k.path, c.path)
	})
	expired := c.hasMaxAge && c.maxAge <= 0 || !c.hasMaxAge && c.hasExpires && c.expires <= now
	switch {
	case expired && i >= 0:
		j.remove(i)
		return
	case expired:
		return
	case i >= 0:
		j.all[i].value = append(j.all[i].value[:0], c.value...)
		j.all[i].secure = c.secure
		return
	}
	if j.used == maxCookies {
		j.removeOldest()
	}
	if j.used == len(j.all) {
		j.all = append(j.all, cookie{})
	}
	k := &j.all[j.used]
	k.name, k.value = append(k.name[:0], c.name...), append(k.value[:0], c.value...)
	k.path, k.secure, k.made = append(k.path[:0], c.path...), c.secure, j.made
	j.made++
	for i := j.used; i > 0 && j.all[i].isBefore(&j.all[i-1]); i-- {
		j.all[i], j.all[i-1] = j.all[i-1], j.all[i]
	}
	j.used++
}

// isBefore reports whether k is sent before another that is older.
func (k *cookie) isBefore(other *cookie) bool {
	if len(k.path) != len(other.path) {
		return len(k.path) > len(other.path)
	}
	return len(k.name) > len(other.name)
}

// remove removes a cookie. Its memory is kept behind the others.
func (j *jar) remove(i int) {
	gone := j.all[i]
	copy(j.all[i:j.used], j.all[i+1:j.used])
	j.used--
	j.all[j.used] = gone
}

func (j *jar) removeOldest() {
	oldest := 0
	for i := range j.all[:j.used] {
		if j.all[i].made < j.all[oldest].made {
			oldest = i
		}
	}
	j.remove(oldest)
}

// isWithin reports whether a server may set cookies for a domain: its own, or one above it.
func (o *origin) isWithin(domain []byte) bool {
	domain = bytes.TrimPrefix(domain, []byte("."))
	if len(domain) == 0 {
		return true
	}
	d := strings.ToLower(string(domain))
	return o.host == d || strings.HasSuffix(o.host, "."+d) && strings.Contains(d, ".")
}

// directory is the path of cookies that name none: that of the request up to its last slash.
func directory(path []byte) []byte {
	if i := bytes.LastIndexByte(withoutQuery(path), '/'); i > 0 {
		return path[:i]
	}
	return []byte("/")
}

func withoutQuery(path []byte) []byte {
	if i := bytes.IndexByte(path, '?'); i >= 0 {
		return path[:i]
	}
	return path
}

// appendCookies appends those for a request of that path, as the header Cookie has them.
func (j *jar) appendCookies(b, path []byte, from *origin) []byte {
	path = withoutQuery(path)
	begin := len(b)
	for i := range j.all[:j.used] {
		k := &j.all[i]
		if k.secure && !from.secure || !within(path, k.path) {
			continue
		}
		if len(b) > begin {
			b = append(b, "; "...)
		}
		b = append(append(append(b, k.name...), '='), k.value...)
	}
	return b
}

// within reports whether a path is one, or below it.
func within(path, above []byte) bool {
	if !bytes.HasPrefix(path, above) {
		return false
	}
	return len(path) == len(above) || above[len(above)-1] == '/' || path[len(above)] == '/'
}
