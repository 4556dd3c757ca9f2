package tls

import (
	"crypto/tls"
	"testing"

	"dyno/internal/engine/proto/prototest"
)

// Whatever a server says to our hello, and however it is split, it is taken
// without panic and comes to an end.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{"", "HTTP/1.1 400 Bad Request\r\n\r\n", "\x15\x03\x03\x00\x02\x02\x28",
		"\x16\x03\x03\x00\x00\x16\x03\x03\x00\x01\x02", "\x16\x03\x03\xff\xff", "\x16\x03\x03\x00\x04" +
			"\x0e\x00\x00\x00\x16\x03\x03\x00\x04\x02\x00\x00\x00"} {
		f.Add([]byte(s), uint8(1))
		f.Add([]byte(s), uint8(200))
	}
	mk := maker(f, &tls.Config{InsecureSkipVerify: true}, get)
	f.Fuzz(func(t *testing.T, speech []byte, chunk uint8) {
		c := mk(nil)
		if len(c.Flush(nil)) == 0 {
			t.Fatal("no hello")
		}
		if _, err := prototest.Events(c, speech, int(chunk)+1); err != nil {
			t.Error(err)
		}
		if c.Room() != 0 {
			t.Error("room without a handshake")
		}
	})
}
