package cookie

import "testing"

// Cookies are sent as curl sends them: within their path, those of longer paths and names first.
func TestCookies(t *testing.T) {
	host, secure := &Origin{Host: "shop.test"}, &Origin{Host: "shop.test", Secure: true}
	for _, tc := range []struct {
		set  []string // of responses to /a/b/c?q=/x/y
		from *Origin
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
		var j Jar
		for range 2 { // the second in the memory of the first
			j.Reset()
			for _, h := range tc.set {
				j.Set([]byte(h), tc.from, []byte("/a/b/c?q=/x/y"), 1_700_000_000)
			}
			if got := string(j.Append(nil, []byte(tc.path), tc.from)); got != tc.want {
				t.Errorf("%q at %s: %q, want %q", tc.set, tc.path, got, tc.want)
			}
		}
	}
}

// A user keeps a limited number of cookies: a new one takes the place of the oldest.
func TestManyCookies(t *testing.T) {
	var j Jar
	for i := range maxCookies + 10 {
		name := string([]byte{'a' + byte(i/26), 'a' + byte(i%26)})
		j.Set([]byte(name+"=1; Path=/"), &Origin{}, []byte("/"), 0)
	}
	got := string(j.Append(nil, []byte("/"), &Origin{}))
	if j.used != maxCookies || len(j.all) != maxCookies || got[:5] != "ak=1;" {
		t.Errorf("%d of %d: %.20s", j.used, len(j.all), got)
	}
}
