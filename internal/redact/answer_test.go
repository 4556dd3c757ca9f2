package redact

import "testing"

// Of what a server said, all is kept but secrets.
func TestAnswer(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"server", "nginx/1.26", "nginx/1.26"},
		{"x-request-id", "7f3a", "7f3a"},
		{"set-cookie", "session=abc; HttpOnly", Plain},
		{"x-auth-token", "abc", Plain},
		{"location", "/login?token=abc&page=1", "/login?token=(redacted)&page=1"},
		{"link", "<https://me:pw@h/x>; rel=next", "<https://me:(redacted)@h/x>; rel=next"},
		{"www-authenticate", `Bearer realm="shop", error="invalid_token"`, `Bearer realm="shop", error="invalid_token"`},
	} {
		if got := Replacer(PlainMark).AnswerField(c.name, c.value); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if got := Replacer(nil).AnswerField(c.name, c.value); got != c.value {
			t.Errorf("%s: %q is not shown", c.name, got)
		}
	}
	for _, c := range []struct{ kind, body, want string }{
		{"text/plain", "no such user", "no such user"},
		{"text/html; charset=utf-8", "<p>key: the number of workers</p>", "<p>key: the number of workers</p>"},
		{"application/problem+json", `{"title":"no","token":"abc"}`, `{"title":"no","token":"(redacted)"}`},
		{"application/json", `{"title":"no","token":"abc","mo`, `{"title":"no","token":"(redacted)","mo`},
		{"", `{"password":"abc"}`, `{"password":"(redacted)"}`},
		{"text/plain", "user=me password=abc", "user=me password=(redacted)"},
		{"application/x-www-form-urlencoded", "user=me&pin=123", "user=me&pin=(redacted)"},
		{"application/x-www-form-urlencoded", "a&password=x&y=1&note=a b", "a&password=(redacted)&y=1&note=a b"},
		{"application/x-www-form-urlencoded", "note=a b&password=x y&z=token=t", "note=a b&password=(redacted)&z=token=(redacted)"},
		{"", "pin=1 2&y=3", "pin=(redacted)&y=3"},
		{"text/plain", "password=x&y z", "password=(redacted) z"},
		{"", "", ""},
	} {
		if got := string(Replacer(PlainMark).AnswerBody(c.kind, []byte(c.body))); got != c.want {
			t.Errorf("%s: %q, want %q", c.kind, got, c.want)
		}
		if got := string(Replacer(nil).AnswerBody(c.kind, []byte(c.body))); got != c.body {
			t.Errorf("%s: %q is not shown", c.kind, got)
		}
	}
}
