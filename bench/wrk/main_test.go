package main

import (
	"bufio"
	"net/http"
	"strings"
	"testing"
)

// Order, dyno's User-Agent and the length of an empty body make no difference; all else does.
func TestDescribe(t *testing.T) {
	const plain = "POST /a HTTP/1.1\r\nHost: x\r\nA: b\r\nC: d\r\n\r\n"
	text := func(request string) string {
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(request)))
		if err != nil {
			t.Fatal(err)
		}
		s, err := describe(r)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for request, same := range map[string]bool{
		"POST /a HTTP/1.1\r\nC: d\r\nUser-Agent: dyno/1\r\nA: b\r\nHost: x\r\nContent-Length: 0\r\n\r\n": true,
		"POST /a HTTP/1.1\r\nHost: x\r\nA: b\r\nC: e\r\n\r\n":                                            false,
		"POST /a HTTP/1.1\r\nHost: x\r\nA: b\r\nC: d\r\nUser-Agent: wrk\r\n\r\n":                         false,
		"POST /a HTTP/1.1\r\nHost: x\r\nA: b\r\nC: d\r\nContent-Length: 1\r\n\r\nz":                      false,
		"PUT /a HTTP/1.1\r\nHost: x\r\nA: b\r\nC: d\r\n\r\n":                                             false,
	} {
		if got := text(request) == text(plain); got != same {
			t.Errorf("%q: same %v", request, got)
		}
	}
}
