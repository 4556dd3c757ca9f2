package session

import "testing"

// Cookies are sent as curl sends them: within their path, those of longer paths and names first.
func TestCookies(t *testing.T) {
	host, secure := &origin{host: "shop.test"}, &origin{host: "shop.test", secure: true}
	for _, tc := range []struct {
		set  []string // of responses to /a/b/c?q=/x/y
		from *origin
		path string
		want string
	}{
		{[]string{"a=1"}, host, "/a/b/d", "a=1"},
		{[]string{"a=1"}, host, "/a/bc", ""},
		{[]string{"a=1"}, host, "/a", ""},
		{[]string{"a=1; Path=/"}, host, "/", "a=1"},
		{[]string{"a=1; path=/a/"}, host, "/a/x?y", "a=1"},
		{[]string{"a=1; Path=x"}, host, "/a/b/", "a=1"},
		{[]string{"a=1; Path=/", "b=2; Path=/a"}, host, "/a", "b=2; a=1"},
		{[]string{"a=1; Path=/", "long=2; Path=/", "b=3; Path=/"}, host, "/", "long=2; a=1; b=3"},
		{[]string{"a=1; Path=/", "a=2; Path=/"}, host, "/", "a=2"},
		{[]string{"a=1; Path=/", "b=2; Path=/", "a=; Path=/; Max-Age=0"}, host, "/", "b=2"},
		{[]string{"a=1; Path=/; Max-Age=-1"}, host, "/", ""},
		{[]string{"a=1; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT"}, host, "/", ""},
		{[]string{"a=1; Path=/; Expires=Wed, 13-Jan-2100 22:23:01 GMT"}, host, "/", "a=1"},
		{[]string{"a=1; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=9"}, host, "/", "a=1"},
		{[]string{"a=1; Path=/; Secure"}, host, "/", ""},
		{[]string{"a=1; Path=/; Secure"}, secure, "/", "a=1"},
		{[]string{"a=1; Path=/; Domain=shop.test", "b=1; Path=/; Domain=.SHOP.test"}, host, "/", "a=1; b=1"},
		{[]string{"a=1; Path=/; Domain=other.test", "b=1; Path=/; Domain=test"}, host, "/", ""},
		{[]string{"a", "=1", ""}, host, "/a/b/c", ""},
		{[]string{" a = x=y ; Path=/"}, host, "/", "a=x=y"},
	} {
		var j jar
		for range 2 { // the second in the memory of the first
			j.reset()
			for _, h := range tc.set {
				j.set([]byte(h), tc.from, []byte("/a/b/c?q=/x/y"), 1_700_000_000)
			}
			if got := string(j.appendCookies(nil, []byte(tc.path), tc.from)); got != tc.want {
				t.Errorf("%q at %s: %q, want %q", tc.set, tc.path, got, tc.want)
			}
		}
	}
}

// A user keeps a limited number of cookies: a new one takes the place of the oldest.
func TestManyCookies(t *testing.T) {
	var j jar
	for i := range maxCookies + 10 {
		name := string([]byte{'a' + byte(i/26), 'a' + byte(i%26)})
		j.set([]byte(name+"=1; Path=/"), &origin{}, []byte("/"), 0)
	}
	got := string(j.appendCookies(nil, []byte("/"), &origin{}))
	if j.used != maxCookies || len(j.all) != maxCookies || got[:5] != "ak=1;" {
		t.Errorf("%d of %d: %.20s", j.used, len(j.all), got)
	}
}
