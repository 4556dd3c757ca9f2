// Package cookie has the cookies of a user: it reads Set-Cookie, and says what to send, as curl
// does, which is in hurl.
package cookie

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

// A Jar has the cookies of one user in one iteration, in the order in which curl sends them: those
// of longer paths first, then those with longer names, then the older ones. The run has one origin,
// so that a cookie needs no host.
type Jar struct {
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

// A SetCookie is what a Set-Cookie header says. Its texts are the header's.
type SetCookie struct {
	Name, Value  []byte
	Expires      int64 // in s since the Unix epoch
	HasExpires   bool
	MaxAge       int64
	HasMaxAge    bool
	Domain, Path []byte
	Secure       bool
	HTTPOnly     bool
	SameSite     []byte
}

// Parse parses a Set-Cookie header; ok is false if it sets nothing.
func Parse(header []byte) (c SetCookie, ok bool) {
	pair, rest, _ := bytes.Cut(header, []byte(";"))
	name, value, has := bytes.Cut(pair, []byte("="))
	c.Name, c.Value = bytes.TrimSpace(name), bytes.TrimSpace(value)
	if !has || len(c.Name) == 0 {
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
				c.Expires, c.HasExpires = t.Unix(), true
			}
		case equalFold(key, "max-age"):
			if n, err := strconv.ParseInt(string(v), 10, 64); err == nil {
				c.MaxAge, c.HasMaxAge = n, true
			}
		case equalFold(key, "domain"):
			c.Domain = v
		case equalFold(key, "path"):
			c.Path = v
		case equalFold(key, "secure"):
			c.Secure = true
		case equalFold(key, "httponly"):
			c.HTTPOnly = true
		case equalFold(key, "samesite"):
			c.SameSite = v
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

// Reset forgets all cookies.
func (j *Jar) Reset() { j.used = 0 }

// An Origin is what a jar has to know of the server.
type Origin struct {
	Host   string // without port, in lower case
	Secure bool   // https
}

// Set does what a Set-Cookie header of a response to a request of that path says. now is in s since
// the Unix epoch.
func (j *Jar) Set(header []byte, from *Origin, requestPath []byte, now int64) {
	c, ok := Parse(header)
	if !ok || c.Secure && !from.Secure || !from.isWithin(c.Domain) {
		return
	}
	if len(c.Path) == 0 || c.Path[0] != '/' {
		c.Path = directory(requestPath)
	}
	i := slices.IndexFunc(j.all[:j.used], func(k cookie) bool {
		return bytes.Equal(k.name, c.Name) && bytes.Equal(k.path, c.Path)
	})
	expired := c.HasMaxAge && c.MaxAge <= 0 || !c.HasMaxAge && c.HasExpires && c.Expires <= now
	switch {
	case expired && i >= 0:
		j.remove(i)
		return
	case expired:
		return
	case i >= 0:
		j.all[i].value = append(j.all[i].value[:0], c.Value...)
		j.all[i].secure = c.Secure
		return
	}
	if j.used == maxCookies {
		j.removeOldest()
	}
	if j.used == len(j.all) {
		j.all = append(j.all, cookie{})
	}
	k := &j.all[j.used]
	k.name, k.value = append(k.name[:0], c.Name...), append(k.value[:0], c.Value...)
	k.path, k.secure, k.made = append(k.path[:0], c.Path...), c.Secure, j.made
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
func (j *Jar) remove(i int) {
	gone := j.all[i]
	copy(j.all[i:j.used], j.all[i+1:j.used])
	j.used--
	j.all[j.used] = gone
}

func (j *Jar) removeOldest() {
	oldest := 0
	for i := range j.all[:j.used] {
		if j.all[i].made < j.all[oldest].made {
			oldest = i
		}
	}
	j.remove(oldest)
}

// isWithin reports whether a server may set cookies for a domain: its own, or one above it.
func (o *Origin) isWithin(domain []byte) bool {
	domain = bytes.TrimPrefix(domain, []byte("."))
	if len(domain) == 0 {
		return true
	}
	d := strings.ToLower(string(domain))
	return o.Host == d || strings.HasSuffix(o.Host, "."+d) && strings.Contains(d, ".")
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

// Append appends those for a request of that path, as the header Cookie has them.
func (j *Jar) Append(b, path []byte, from *Origin) []byte {
	path = withoutQuery(path)
	begin := len(b)
	for i := range j.all[:j.used] {
		k := &j.all[i]
		if k.secure && !from.Secure || !within(path, k.path) {
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
