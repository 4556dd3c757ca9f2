// Package cookie has the cookies of a user: it reads Set-Cookie, and says what to send, as curl
// does, which is in hurl.
//
//	jar.go         which cookies are kept and sent
//	setcookie.go   what a Set-Cookie header says
//	date.go        the date of Expires
package cookie

import (
	"bytes"
	"cmp"
	"net/netip"
	"slices"
	"strings"
)

// Limits of what a server can set. Those down to mostCookies are curl's: a longer cookie, or a
// further one, is not kept, and a header Cookie ends before the one that it has no room for.
const (
	longestHeader = 5000 // bytes of a Set-Cookie
	longestPair   = 4096 // of name and value
	mostOfOne     = 50   // cookies that one response sets
	longestSent   = 8190 // bytes of the line Cookie
	mostCookies   = 150  // of a jar: curl sends no more
	mostText      = 32 << 10
	littleText    = 1 << 10 // of cookies that are gone
)

// A Jar has the cookies of one user in one iteration, and those that stay for the next. They are in
// the order in which curl sends them: those of longer paths first, then those of longer domains and
// names. Of others the older ones come first, as in RFC 6265; some versions of curl turn that
// round. The run has one origin, whose host all of them are for.
type Jar struct {
	all   []cookie
	text  []byte // of all
	live  int    // bytes of text that cookies have; the rest is of cookies that are gone
	made  int64
	ofOne int // cookies that one response has set
	by    int // who sets them; 0: nobody whose cookies stay
}

// A cookie is one that a response has set. Its text is name, value, domain and path.
type cookie struct {
	at                        int // where its text begins
	name, value, domain, path int // bytes
	written                   int // bytes of the path as the server wrote it
	wide                      int // bytes of the domain, or of the host if it names none
	secure                    bool
	expires                   int64 // in s since the Unix epoch; 0: with the session
	made                      int64 // after how many others
	by                        int   // who set it; Stay of that number keeps it; 0: nobody's
	stays                     bool
}

// An Origin is what a jar has to know of the server.
type Origin struct {
	Host   string // without port and brackets, in lower case
	Secure bool   // cookies with Secure are kept and sent
}

// NewOrigin is the origin of a URL. As in curl, this machine is secure without TLS.
func NewOrigin(scheme, host string) Origin {
	host = strings.ToLower(strings.Trim(host, "[]"))
	return Origin{Host: host, Secure: scheme == "https" || host == "localhost" ||
		host == "127.0.0.1" || host == "::1"}
}

// Reset forgets all cookies but those that stay.
func (j *Jar) Reset() {
	end := 0
	j.all = slices.DeleteFunc(j.all, func(k cookie) bool {
		if k.stays {
			end = max(end, k.at+k.size())
		} else {
			j.live -= k.size()
		}
		return !k.stays
	})
	j.text = j.text[:end]
	if end > 2*j.live+littleText { // in each iteration a new value was set
		j.compact(0)
	}
}

// Begin says that what is set next is of another response, and whose: what it sets stays as soon as
// Stay is called for that number. 0: it does not stay.
func (j *Jar) Begin(by int) { j.ofOne, j.by = 0, by }

// Stay has the cookies stay that a number has set. One that stays does so with each value that it
// is given later.
func (j *Jar) Stay(by int) {
	for i := range j.all {
		j.all[i].stays = j.all[i].stays || j.all[i].by == by
	}
}

// Set does what a Set-Cookie header of a response to a request of that path says. now is in s since
// the Unix epoch.
func (j *Jar) Set(header []byte, from *Origin, requestPath []byte, now int64) {
	c, ok := Parse(header)
	if !ok || len(header) > longestHeader || j.ofOne == mostOfOne || !c.isKept(from) {
		return
	}
	j.ofOne++
	k := cookie{name: len(c.Name), value: len(c.Value), secure: c.Secure, expires: c.expiry(now)}
	path := directory(requestPath)
	if k.written = len(path); c.Path != nil {
		k.written, path = len(c.Path), c.Path
	}
	path, domain := cleanPath(path), bytes.TrimPrefix(c.Domain, []byte("."))
	if len(domain) == 0 || from.isAddress() {
		domain = nil
	}
	k.path, k.domain, k.wide = len(path), len(domain), len(domain)
	if domain == nil {
		k.wide = len(from.Host)
	}
	j.removeExpired(now)
	k.made, k.by = j.made, j.by
	if i := j.find(c.Name, domain, path); i >= 0 {
		k.made, k.stays, k.by = j.all[i].made, j.all[i].stays, cmp.Or(j.by, j.all[i].by)
		j.remove(i)
	}
	size := k.size()
	gone := k.expires != 0 && k.expires < now
	if gone || len(j.all) == mostCookies || j.live+size > mostText {
		return
	}
	j.made++
	if len(j.text)+size > 2*mostText {
		j.compact(size)
	}
	k.at = len(j.text)
	j.text = append(append(append(append(j.text, c.Name...), c.Value...), domain...), path...)
	j.live += size
	i := len(j.all)
	for i > 0 && k.isBefore(&j.all[i-1]) {
		i--
	}
	j.all = slices.Insert(j.all, i, k)
}

// isKept reports whether a cookie that a server sets is kept.
func (c *SetCookie) isKept(from *Origin) bool {
	switch {
	case len(c.Name) >= longestPair-1 || len(c.Value) >= longestPair-1,
		len(c.Name)+len(c.Value) > longestPair,
		bytes.ContainsFunc(c.Name, isControl), bytes.ContainsFunc(c.Value, isControl),
		c.Secure && !from.Secure, !from.isWithin(c.Domain):
		return false
	case hasPrefixFold(c.Name, "__secure-"):
		return c.Secure
	case hasPrefixFold(c.Name, "__host-"):
		return c.Secure && string(c.Path) == "/" && (len(c.Domain) == 0 || from.isAddress())
	}
	return true
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

func hasPrefixFold(b []byte, prefix string) bool {
	return len(b) >= len(prefix) && equalFold(b[:len(prefix)], prefix)
}

func (k *cookie) size() int { return k.name + k.value + k.domain + k.path }

// cut is n bytes of a cookie's text that begin behind so many.
func (j *Jar) cut(k *cookie, behind, n int) []byte { return j.text[k.at+behind:][:n] }

// find is the cookie of that name, domain and path; -1: there is none.
func (j *Jar) find(name, domain, path []byte) int {
	return slices.IndexFunc(j.all, func(k cookie) bool {
		return bytes.Equal(j.cut(&k, 0, k.name), name) &&
			bytes.EqualFold(j.cut(&k, k.name+k.value, k.domain), domain) &&
			bytes.EqualFold(j.cut(&k, k.name+k.value+k.domain, k.path), path)
	})
}

// isBefore reports whether k is sent before another that is older.
func (k *cookie) isBefore(other *cookie) bool {
	switch {
	case k.written != other.written:
		return k.written > other.written
	case k.wide != other.wide:
		return k.wide > other.wide
	case k.name != other.name:
		return k.name > other.name
	}
	return k.made < other.made
}

func (j *Jar) remove(i int) {
	j.live -= j.all[i].size()
	j.all = slices.Delete(j.all, i, i+1)
}

// removeExpired removes what has expired.
func (j *Jar) removeExpired(now int64) {
	for i := len(j.all) - 1; i >= 0; i-- {
		if e := j.all[i].expires; e != 0 && e < now {
			j.remove(i)
		}
	}
}

// compact drops the text of cookies that are gone, and leaves room for so many bytes.
func (j *Jar) compact(more int) {
	text := make([]byte, 0, j.live+more)
	for i := range j.all {
		k := &j.all[i]
		from := len(text)
		text = append(text, j.cut(k, 0, k.size())...)
		k.at = from
	}
	j.text = text
}

func (o *Origin) isAddress() bool {
	_, err := netip.ParseAddr(o.Host)
	return err == nil
}

// isWithin reports whether a server may set cookies for a domain: its own, or one above it.
func (o *Origin) isWithin(domain []byte) bool {
	if len(domain) == 0 {
		return true
	}
	d := strings.ToLower(string(bytes.TrimPrefix(domain, []byte("."))))
	return o.Host == d || !o.isAddress() && strings.HasSuffix(o.Host, "."+d) &&
		strings.Contains(d, ".")
}

// directory is the path of cookies that name none: that of the request up to its last slash.
func directory(path []byte) []byte {
	path = withoutQuery(path)
	return path[:bytes.LastIndexByte(path, '/')+1]
}

func withoutQuery(path []byte) []byte {
	if i := bytes.IndexByte(path, '?'); i >= 0 {
		return path[:i]
	}
	return path
}

// cleanPath is a path without quotes and without a slash at its end; one that begins with none is
// that of all requests, which has no bytes.
func cleanPath(path []byte) []byte {
	path = bytes.TrimSuffix(bytes.TrimPrefix(path, []byte(`"`)), []byte(`"`))
	if len(path) <= len("//") || path[0] != '/' {
		path = bytes.TrimRight(path, "/")
	}
	if len(path) == 0 || path[0] != '/' {
		return nil
	}
	return bytes.TrimSuffix(path, []byte("/"))
}

// Append appends those for a request of that path which is sent at an instant, in s since the Unix
// epoch, as the header Cookie has them.
func (j *Jar) Append(b, path []byte, from *Origin, now int64) []byte {
	j.removeExpired(now)
	path = withoutQuery(path)
	begin := len(b)
	for i := range j.all {
		k := &j.all[i]
		if k.secure && !from.Secure || !within(path, j.cut(k, k.name+k.value+k.domain, k.path)) {
			continue
		}
		if len("Cookie: ")+len(b)-begin+k.name+k.value+len("=") >= longestSent {
			break
		}
		if len(b) > begin {
			b = append(b, "; "...)
		}
		b = append(append(b, j.cut(k, 0, k.name)...), '=')
		b = append(b, j.cut(k, k.name, k.value)...)
	}
	return b
}

// within reports whether a path is one, or below it.
func within(path, above []byte) bool {
	return bytes.HasPrefix(path, above) && (len(path) == len(above) || path[len(above)] == '/')
}
