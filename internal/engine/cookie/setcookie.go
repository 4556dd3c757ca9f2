package cookie

import (
	"bytes"
	"strconv"
)

// A SetCookie is what a Set-Cookie header says. Its texts are the header's; nil: it says nothing.
type SetCookie struct {
	Name, Value  []byte
	Expires      int64 // in s since the Unix epoch
	HasExpires   bool
	maxAge       []byte
	Domain, Path []byte
	Secure       bool
	HTTPOnly     bool
	SameSite     []byte
}

// Parse parses a Set-Cookie header; ok is false if it sets nothing. Of an attribute that stands
// twice the last counts.
func Parse(header []byte) (c SetCookie, ok bool) {
	header = bytes.TrimLeft(header, " \t;")
	pair, rest, _ := bytes.Cut(header, []byte(";"))
	name, value, has := bytes.Cut(pair, []byte("="))
	c.Name, c.Value = bytes.TrimSpace(name), bytes.TrimSpace(value)
	if !has || len(c.Name) == 0 {
		return c, false
	}
	for len(rest) > 0 {
		var one []byte
		one, rest, _ = bytes.Cut(rest, []byte(";"))
		key, v, has := bytes.Cut(one, []byte("="))
		if key, v = bytes.TrimSpace(key), bytes.TrimSpace(v); v == nil {
			v = []byte{}
		}
		switch {
		case equalFold(key, "expires"):
			c.Expires, c.HasExpires = parseDate(v)
		case equalFold(key, "max-age") && has:
			c.maxAge = v
		case equalFold(key, "domain"):
			c.Domain = v
		case equalFold(key, "path") && has:
			c.Path = v
		case equalFold(key, "secure") && len(v) == 0:
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

// MaxAge is the attribute Max-Age, in s; ok is false if it is none or no number.
func (c *SetCookie) MaxAge() (s int64, ok bool) {
	s, err := strconv.ParseInt(string(c.maxAge), 10, 64)
	return s, err == nil
}

// forever is the expiry of cookies that outlive every run.
const forever = 1<<63 - 1

// expiry is when a cookie that is set now expires; 0: with the session. Max-Age beats Expires. As
// in curl, one that begins with no digit has passed.
func (c *SetCookie) expiry(now int64) int64 {
	switch {
	case c.maxAge != nil:
		n := int64(0)
		digits := bytes.TrimPrefix(bytes.TrimPrefix(c.maxAge, []byte(`"`)), []byte("+"))
		for _, d := range digits {
			if d < '0' || d > '9' {
				break
			}
			if n = n*10 + int64(d-'0'); n > forever/1000-now {
				return forever
			}
		}
		if n > 0 {
			return now + n
		}
		return past
	case c.HasExpires:
		return max(c.Expires, past)
	}
	return 0
}

// past is an expiry that every run has seen.
const past = 1
