package requests

import (
	"strings"
	"testing"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/h1"
)

func TestParse(t *testing.T) {
	for _, test := range []struct {
		in              string
		target          loadplan.Target
		authority, path string
		basic           string
	}{
		{in: "http://localhost",
			target:    loadplan.Target{URL: "http://localhost", Host: "localhost", Port: 80},
			authority: "localhost", path: "/"},
		{in: "HTTP://localhost:8080/a/b?c=d&e#f",
			target:    loadplan.Target{URL: "http://localhost:8080/a/b?c=d&e", Host: "localhost", Port: 8080},
			authority: "localhost:8080", path: "/a/b?c=d&e"},
		{in: "https://a.example:443?q",
			target:    loadplan.Target{URL: "https://a.example:443?q", TLS: true, Host: "a.example", Port: 443},
			authority: "a.example", path: "/?q"},
		{in: "https://example.com:80/",
			target:    loadplan.Target{URL: "https://example.com:80/", TLS: true, Host: "example.com", Port: 80},
			authority: "example.com:80", path: "/"},
		{in: "http://[::1]:8080/",
			target:    loadplan.Target{URL: "http://[::1]:8080/", Host: "::1", Port: 8080},
			authority: "[::1]:8080", path: "/"},
		{in: "http://[fe80::1%25eth0]/",
			target:    loadplan.Target{URL: "http://[fe80::1%25eth0]/", Host: "fe80::1%eth0", Port: 80},
			authority: "[fe80::1]", path: "/"},
		{in: "http://me:se%40cret@localhost/x",
			target:    loadplan.Target{URL: "http://localhost/x", Host: "localhost", Port: 80},
			authority: "localhost", path: "/x", basic: "Basic bWU6c2VAY3JldA=="},
		{in: "http://me@localhost/",
			target:    loadplan.Target{URL: "http://localhost/", Host: "localhost", Port: 80},
			authority: "localhost", path: "/", basic: "Basic bWU6"},
		{in: "http://bücher.test/ä",
			target:    loadplan.Target{URL: "http://bücher.test/ä", Host: "xn--bcher-kva.test", Port: 80},
			authority: "xn--bcher-kva.test", path: "/%C3%A4"},
		{in: "http+unix:///run/app.sock:/a?b=http://c",
			target:    loadplan.Target{URL: "http+unix:///run/app.sock:/a?b=http://c", Unix: "/run/app.sock"},
			authority: "localhost", path: "/a?b=http://c"},
		{in: "http+unix:///run/app.sock",
			target:    loadplan.Target{URL: "http+unix:///run/app.sock", Unix: "/run/app.sock"},
			authority: "localhost", path: "/"},
		{in: "H2C://localhost/x",
			target:    loadplan.Target{URL: "h2c://localhost/x", H2C: true, Host: "localhost", Port: 80},
			authority: "localhost", path: "/x"},
		{in: "fcgi://localhost:9000/a.php?b",
			target: loadplan.Target{URL: "fcgi://localhost:9000/a.php?b", FastCGI: true, Host: "localhost",
				Port: 9000},
			authority: "localhost:9000", path: "/a.php?b"},
		{in: "fcgi+unix:///run/php.sock:/a.php",
			target: loadplan.Target{URL: "fcgi+unix:///run/php.sock:/a.php", FastCGI: true,
				Unix: "/run/php.sock"},
			authority: "localhost", path: "/a.php"},
	} {
		u, err := Parse(test.in)
		want := URL{test.target, test.authority, test.path, test.basic}
		if err != nil || u != want {
			t.Errorf("Parse(%q)\n  is %+v, %v\nwant %+v", test.in, u, err, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"", `"" names no host; write one, as in http://localhost:8080/`},
		{" \t", `" \t" names no host; write one, as in http://localhost:8080/`},
		{"http:/host", `"http:/host" has no // after its scheme; write http://host/`},
		{"https:host/x", `"https:host/x" has no // after its scheme; write https://host/x`},
		{"localhost:8080", `"localhost:8080" has no scheme; write http://localhost:8080/`},
		{"//localhost/x", `"//localhost/x" has no scheme; write http://localhost/x`},
		{"ftp://localhost/", `scheme "ftp" is not http, https, h2c, fcgi, http+unix or fcgi+unix`},
		{"fcgi://localhost/", "fcgi has no port of its own; write fcgi://localhost:9000"},
		{"fcgi+unix://run/php.sock:/",
			"a socket is named by its whole path: fcgi+unix:///path/to.sock:/uri"},
		{"http:///x", "no host is named; write one, as in http://localhost:8080/"},
		{"http://:80/", "no host is named; write one, as in http://localhost:8080/"},
		{"http://localhost:0/", `port "0" is not within 1 to 65535`},
		{"http://localhost:65536/", `port "65536" is not within 1 to 65535`},
		{"http://localhost:http/", `port "http" is not within 1 to 65535`},
		{"http://::1/", `the IPv6 address in "::1" must be in brackets: [::1]:8080`},
		{"http://[::1/", `"[::1" has no closing bracket`},
		{"http://[::1]80/", `"80" follows the address where :PORT should`},
		{"http://[1.2.3.4]/", `"1.2.3.4" is not an IPv6 address`},
		{"http://1.2.3/", `"1.2.3" is not an IPv4 address of four numbers from 0 to 255`},
		{"http://256.0.0.1/", `"256.0.0.1" is not an IPv4 address of four numbers from 0 to 255`},
		{"http://local host/", `host "local host" is not a name or an address`},
		{"http://a..b/", `host "a..b" is not a name or an address`},
		{"http://\u2028/", "host \"\\u2028\" is not a name that DNS can hold"},
		{"http://localhost/a b", `"/a b" has a space; write %20`},
		{"http://localhost/\r\n", `"/\r\n" has a control character; write %0D`},
		{"http://a%zz@localhost/", "its user name or password has a % that is not %XX"},
		{"http+unix://app.sock:/", "a socket is named by its whole path: http+unix:///path/to.sock:/uri"},
		{"http+unix:///" + strings.Repeat("x", 103),
			"the socket's path has 104 bytes; at most 103 are possible"},
	} {
		if _, err := Parse(test.in); err == nil || err.Error() != test.want {
			t.Errorf("Parse(%q)\n  is %v\nwant %s", test.in, err, test.want)
		}
	}
}

// What Parse takes can be sent, and means the same when it is read again.
func FuzzURL(f *testing.F) {
	for _, s := range []string{"http://localhost:8080/a?b#c", "https://u:p@[::1]:1/", "http://ü/ü",
		"http+unix:///a:/b", "localhost", "http://1.2.3.4:80", "http://[fe80::1%25lo]/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		u, err := Parse(s)
		if err != nil {
			return
		}
		get := proto.Request{Method: "GET", Authority: u.Authority, Path: u.Path}
		if err := h1.Check(get); err != nil {
			t.Fatalf("%q became %+v: %v", s, u, err)
		}
		again, err := Parse(u.Target.URL)
		if u.Basic = ""; err != nil || again != u {
			t.Fatalf("%q is %+v, and its own URL %q is %+v, %v", s, u, u.Target.URL, again, err)
		}
		if !u.sameOrigin(again) {
			t.Fatalf("%q is not of its own origin", s)
		}
		if from, err := u.resolveReference(u.Path); err != nil || from != u {
			t.Fatalf("%q resolves its own path %q to %+v, %v", s, u.Path, from, err)
		}
	})
}

// A port alone is one of this machine.
func TestFullURL(t *testing.T) {
	for given, want := range map[string]string{":9301": "http://127.0.0.1:9301/", ":80/a?b": "http://127.0.0.1:80/a?b",
		":8080?x": "http://127.0.0.1:8080?x", ":x": ":x", ":80x": ":80x", ":": ":", "http://h:1": "http://h:1", "h:80": "h:80"} {
		if got := FullURL(given); got != want {
			t.Errorf("%s is %s, want %s", given, got, want)
		}
	}
}
