package e2e

import (
	"net"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// records are the names that the resolver of testResolver knows, with their addresses.
var records = map[string]string{
	"server.second.test.": "127.0.0.3", "one.dot.first.test.": "127.0.0.4", "full.name.test.": "127.0.0.5",
	"file.first.test.": "127.0.0.6", "alias.first.test.": "full.name.test.",
}

// answerRecords answers a query from records.
func answerRecords(query []byte) []byte {
	var m dnsmessage.Message
	if m.Unpack(query) != nil || len(m.Questions) != 1 {
		return nil
	}
	q := m.Questions[0]
	m.Response, m.RecursionAvailable, m.Additionals = true, true, nil
	name := strings.ToLower(q.Name.String())
	if target := records[name]; strings.HasSuffix(target, ".") {
		m.Answers = append(m.Answers, dnsmessage.Resource{
			Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class},
			Body:   &dnsmessage.CNAMEResource{CNAME: dnsmessage.MustNewName(target)}})
		name = target
	}
	ip := net.ParseIP(records[name]).To4()
	switch {
	case ip == nil:
		m.RCode = dnsmessage.RCodeNameError
	case q.Type == dnsmessage.TypeA:
		m.Answers = append(m.Answers, dnsmessage.Resource{
			Header: dnsmessage.ResourceHeader{Name: dnsmessage.MustNewName(name), Class: q.Class},
			Body:   &dnsmessage.AResource{A: [4]byte(ip)}})
	}
	reply, _ := m.Pack()
	return reply
}

// testResolver: dyno is built without the C library, and finds the same addresses as it does: those of
// the file of hosts first, then those of the name servers, in each of the search domains.
func testResolver(t *testing.T) {
	bindMount(t, "/etc/hosts", "127.0.0.1 localhost\n127.0.0.7 file Other\n")
	bindMount(t, "/etc/resolv.conf", "nameserver 127.0.0.53\nsearch first.test second.test\noptions ndots:2\n")
	startResolver(t, answerRecords)
	for name, want := range map[string]string{
		"file": "127.0.0.7", "other": "127.0.0.7", "server": "127.0.0.3", "one.dot": "127.0.0.4",
		"full.name.test": "127.0.0.5", "full.name.test.": "127.0.0.5", "alias": "127.0.0.5",
	} {
		out, err := exec.Command("getent", "hosts", name).CombinedOutput()
		if err != nil || !strings.HasPrefix(string(out), want+" ") {
			t.Errorf("the C library says %q of %s (%v), want %s", out, name, err, want)
		}
		end, port := serveAt(t, want+":0", answerWith(answer))
		o := runDyno(t, 0, "-n", "20", "-c", "2", "http://"+name+":"+port)
		checkFlawless(t, o.result, 20, "200")
		end()
	}
	expectUnreached(t, "http://nobody", "unknown-host", "dns nobody: no such host")
}
