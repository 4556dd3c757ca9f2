package loadplan

import (
	"encoding/json"
	"testing"
)

// A source is what was said, its zone too, also when it has been through a plan's JSON.
func TestParseSource(t *testing.T) {
	for text, want := range map[string]string{
		"10.0.0.7": "10.0.0.7/32", "::ffff:10.0.0.7": "10.0.0.7/32", "127.0.0.0/28": "127.0.0.0/28",
		"2001:db8::/120": "2001:db8::/120", "fe80::1%eth0": "fe80::1%eth0/128", "fe80::%3/124": "fe80::%3/124",
		"": "", "localhost": "", "10.0.0.7%lo": "", "10.0.0.0/33": "", "fe80::1%/64": "", "10.0.0.0/": "", "10.0.0.0/8/8": "",
	} {
		s, err := ParseSource(text)
		if (err == nil) != (want != "") || err == nil && s.String() != want {
			t.Errorf("%q is %v, %v; want %q", text, s, err, want)
		}
		if err != nil {
			continue
		}
		b, err := json.Marshal(Plan{Source: []Source{s}})
		var p Plan
		if err != nil || json.Unmarshal(b, &p) != nil || len(p.Source) != 1 || p.Source[0] != s {
			t.Errorf("%q comes back as %v: %s, %v", text, p.Source, b, err)
		}
	}
}

func FuzzParseSource(f *testing.F) {
	for _, s := range []string{"10.0.0.7", "127.0.0.0/28", "fe80::1%eth0", "fe80::%3/124", "::ffff:1.2.3.4/100", "/", "%"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSource(text)
		if err != nil {
			return
		}
		if again, err := ParseSource(s.String()); err != nil || again != s {
			t.Errorf("%q is %v, which is %v, %v", text, s, again, err)
		}
	})
}
