package policy

import (
	"context"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proto"
)

// to is a plan for a host.
func to(host string, port uint16) loadplan.Plan {
	p := loadplan.DefaultPlan()
	p.Target = loadplan.Target{URL: "http://" + host + "/", Host: host, Port: port}
	p.Requests = []loadplan.Request{{Weight: 1}}
	return p
}

// names are looked up in a table.
func names(table map[string]string) Lookup {
	return func(_ context.Context, _, host string) (all []netip.Addr, err error) {
		for a := range strings.FieldsSeq(table[host]) {
			all = append(all, netip.MustParseAddr(a))
		}
		if table[host] == "" {
			err = errors.New("no such host")
		}
		return all, err
	}
}

func read(t *testing.T, text string) *Policy {
	t.Helper()
	p, err := ReadPolicy(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Addresses are judged as what they are, whatever they are called.
func TestAddresses(t *testing.T) {
	lookup := names(map[string]string{"lan": "192.168.1.7 fd12::7", "mixed": "10.0.0.1 8.8.8.8",
		"metadata": "169.254.169.254", "mapped": "::ffff:169.254.169.254", "public": "203.0.113.9",
		"mappedlan": "::ffff:10.1.2.3"})
	open := read(t, "allow: [0.0.0.0/0, '::/0']\ndeny: [203.0.113.0/24]\n")
	narrow := read(t, "allow: [192.168.1.7]\n")
	for _, c := range []struct {
		policy    *Policy
		host      string
		addresses string
		against   string
	}{
		{Default(), "127.0.0.1", "127.0.0.1", ""},
		{Default(), "::1", "::1", ""},
		{Default(), "lan", "192.168.1.7 fd12::7", ""},
		{Default(), "mappedlan", "10.1.2.3", ""},
		{Default(), "::ffff:10.1.2.3", "10.1.2.3", ""},
		{Default(), "public", "", "203.0.113.9, an address of public, is not in what its policy allows"},
		{Default(), "mixed", "", "8.8.8.8, an address of mixed"},
		{Default(), "172.32.0.1", "", "is not in what"},
		{Default(), "100.100.100.200", "", "no policy allows"},
		{Default(), "100.100.100.201", "", "is not in what"},
		{Default(), "fd20:ce::254", "", "no policy allows"},
		{Default(), "fd00:c1::a9fe:a9fe", "", "no policy allows"},
		{Default(), "fd00:a9fe:a9fe::1", "", "no policy allows"},
		{Default(), "fd00:42::42", "", "no policy allows"},
		{Default(), "fd00:42::43", "fd00:42::43", ""},
		{Default(), "fd00:100::100:200", "", "no policy allows"},
		{open, "192.0.0.192", "", "no policy allows"},
		{open, "168.63.129.16", "", "no policy allows"},
		{open, "64:ff9b::a9fe:a9fe", "", "translated to 169.254.169.254"},
		{open, "2002:a9fe:a9fe::1", "", "translated to 169.254.169.254"},
		{open, "64:ff9b::cb00:7109", "", "translated to 203.0.113.9"},
		{open, "64:ff9b::c633:6401", "64:ff9b::c633:6401", ""},
		{Default(), "64:ff9b::a00:1", "", "is not in what"},
		{Default(), "metadata", "", "no policy allows"},
		{Default(), "mapped", "", "169.254.169.254, an address of mapped, is one that no policy allows"},
		{Default(), "::ffff:169.254.169.254", "", "no policy allows"},
		{Default(), "fd00:ec2::254", "", "no policy allows"},
		{Default(), "0.0.0.0", "", "no policy allows"},
		{Default(), "::", "", "no policy allows"},
		{Default(), "224.0.0.1", "", "no policy allows"},
		{Default(), "ff02::1", "", "no policy allows"},
		{Default(), "fe80::1", "", "no policy allows"},
		{Default(), "fe80::1%eth0", "", "no policy allows"},
		{Default(), "nowhere", "", "cannot look up nowhere: no such host"},
		{open, "8.8.8.8", "8.8.8.8", ""},
		{open, "2001:db8::1", "2001:db8::1", ""},
		{open, "public", "", "is forbidden by its policy"},
		{open, "::ffff:203.0.113.9", "", "is forbidden by its policy"},
		{open, "metadata", "", "no policy allows"},
		{new(Policy), "127.0.0.1", "", "is not in what its policy allows: no address"},
		{narrow, "192.168.1.7", "192.168.1.7", ""},
		{narrow, "127.0.0.1", "", "is not in what its policy allows: 192.168.1.7/32"},
		{narrow, "lan", "", "fd12::7, an address of lan"},
	} {
		p, err := c.policy.WithLocalBus("127.0.0.1:3967").Authorize(t.Context(), to(c.host, 80), lookup)
		if (err == nil) != (c.against == "") || err != nil && !strings.Contains(err.Error(), c.against) {
			t.Errorf("%s with %v: %v, want %q", c.host, c.policy, err, c.against)
			continue
		}
		if err == nil && joinStrings(p.Addresses) != c.addresses {
			t.Errorf("%s: %v, want %s", c.host, p.Addresses, c.addresses)
		}
	}
}

// What was judged is what load connects to: a name is looked up once.
func TestAnotherAnswerComesTooLate(t *testing.T) {
	asked := 0
	rebinding := func(context.Context, string, string) ([]netip.Addr, error) {
		if asked++; asked > 1 {
			return []netip.Addr{netip.MustParseAddr("169.254.169.254")}, nil
		}
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}
	near := Default().WithLocalBus("[::1]:3967")
	p, err := near.Authorize(t.Context(), to("rebinding", 80), rebinding)
	if err != nil || asked != 1 || !slices.Equal(p.Addresses, []netip.Addr{netip.MustParseAddr("127.0.0.1")}) {
		t.Fatalf("%v %v, asked %d times", p.Addresses, err, asked)
	}
	if _, err := near.Authorize(t.Context(), to("rebinding", 80), rebinding); err == nil {
		t.Error("what a name is now was not looked at")
	}
}

// What listens on an agent's machine for itself alone is not loaded by a fleet that is elsewhere,
// unless the machine's owner says so.
func TestLoopback(t *testing.T) {
	for _, c := range []struct {
		text, bus string
		allowed   bool
	}{
		{"", "127.0.0.1:3967", true},
		{"", "[::1]:3967", true},
		{"", "[::ffff:127.0.0.1]:3967", true},
		{"", "10.0.0.5:3967", false},
		{"", "203.0.113.7:4222", false},
		{"", "", false},
		{"max_rate: 5", "10.0.0.5:3967", false},
		{"max_rate: 5", "127.0.0.1:3967", true},
		{"allow: [127.0.0.0/8]", "10.0.0.5:3967", true},
		{"allow: [10.0.0.0/8]", "127.0.0.1:3967", false},
		{"allow: []", "127.0.0.1:3967", false},
		{"deny: [127.0.0.0/8]", "127.0.0.1:3967", false},
	} {
		p := read(t, c.text).WithLocalBus(c.bus)
		plan := to("127.0.0.1", 80)
		plan.Rate = loadplan.RatePerSecond(1)
		_, err := p.Authorize(t.Context(), plan, nil)
		if (err == nil) != c.allowed {
			t.Errorf("%q with the bus at %q: %v; %v", c.text, c.bus, err, p)
		}
	}
	if p := Default(); strings.Contains(p.String(), "127.") || !strings.Contains(p.WithLocalBus("127.0.0.1:1").String(), "127.") ||
		strings.Contains(p.String(), "127.") {
		t.Errorf("the default is another now: %v", p)
	}
}

// What an owner allows in requests a second goes with the plan, whatever the plan says of it.
func TestMaxRateIsTheCeiling(t *testing.T) {
	p := to("10.0.0.1", 80)
	p.Rate, p.OwnerLimit = loadplan.RatePerSecond(10), loadplan.RatePerSecond(1e6)
	for text, want := range map[string]loadplan.Rate{"": 0, "max_rate: 20": loadplan.RatePerSecond(20),
		"max_rate: 1e300": loadplan.RatePerSecond(loadplan.MaxRate)} {
		judged, err := read(t, text).Authorize(t.Context(), p, nil)
		if err != nil || judged.OwnerLimit != want {
			t.Errorf("%q: %v, want %v; %v", text, judged.OwnerLimit, want, err)
		}
	}
}

func TestAmounts(t *testing.T) {
	policy := read(t, `
ports: [80, 8000-8999]
hosts: ['*.test', 'web?.example']
deny_hosts: [db.test]
max_rate: 1000
max_connections: 100
max_duration: 1m
`)
	lookup := names(map[string]string{"a.test": "10.0.0.1", "WEB1.example.": "10.0.0.1",
		"db.test": "10.0.0.1", "other": "10.0.0.1"})
	plan := func(change func(*loadplan.Plan)) loadplan.Plan {
		p := to("a.test", 8080)
		p.Rate, p.Connections = loadplan.RatePerSecond(500), 100
		change(&p)
		return p
	}
	for against, p := range map[string]loadplan.Plan{
		"":                              plan(func(p *loadplan.Plan) {}),
		"port 443 is not among":         plan(func(p *loadplan.Plan) { p.Target.Port = 443 }),
		"matches none of the hosts":     plan(func(p *loadplan.Plan) { p.Target.Host = "other" }),
		"forbids db.test":               plan(func(p *loadplan.Plan) { p.Target.Host = "db.test" }),
		"is 1000.001 requests a second": plan(func(p *loadplan.Plan) { p.Rate = loadplan.RatePerSecond(1000.001) }),
		"is 2000 requests a second": plan(func(p *loadplan.Plan) {
			p.Stages = []loadplan.Stage{{Duration: loadplan.Seconds(time.Second), Rate: loadplan.RatePerSecond(2000)}}
		}),
		"is 1100 requests a second": plan(func(p *loadplan.Plan) { p.Probe, p.Rate = loadplan.RatePerSecond(100), loadplan.RatePerSecond(1000) }),
		"a closed loop has no rate": plan(func(p *loadplan.Plan) { p.Rate = 0 }),
		"is 101 connections":        plan(func(p *loadplan.Plan) { p.Connections = 101 }),
		"the run takes 1m2s (warm-up 0s, load 1m0s, and up to 2s of drain)": plan(func(p *loadplan.Plan) {
			p.Duration = loadplan.Seconds(time.Minute)
		}),
		"load 2m0s": plan(func(p *loadplan.Plan) { p.Duration, p.Requested = 0, 60000 }),
		"load 640511h56m": plan(func(p *loadplan.Plan) {
			p.Duration, p.Requested, p.Rate = 0, loadplan.MaxRequested, 1
		}),
		"unix socket":         plan(func(p *loadplan.Plan) { p.Target = loadplan.Target{Unix: "/run/docker.sock"} }),
		"names files for TLS": plan(func(p *loadplan.Plan) { p.TLS.KeyLogFile = "/etc/cron.d/x" }),
		"files for TLS":       plan(func(p *loadplan.Plan) { p.TLS.KeyFile = "/etc/ssl/private/key.pem" }),
	} {
		_, err := policy.Authorize(t.Context(), p, lookup)
		if (err == nil) != (against == "") || err != nil && !strings.Contains(err.Error(), against) {
			t.Errorf("%v, want %q", err, against)
		}
	}
	if _, err := policy.Authorize(t.Context(), plan(func(p *loadplan.Plan) { p.Target.Host = "WEB1.example." }), lookup); err != nil {
		t.Errorf("names have no case, and a last dot says nothing: %v", err)
	}
	// A share of more than is allowed is what counts, not the whole.
	whole := plan(func(p *loadplan.Plan) { p.Rate, p.Connections = loadplan.RatePerSecond(3000), 300 })
	for i, part := range whole.SplitBy([]int{1, 1, 1}) {
		if _, err := policy.Authorize(t.Context(), part, lookup); err != nil {
			t.Errorf("a third, part %d: %v", i, err)
		}
	}
	heavy := whole.SplitBy([]int{2, 1})[0]
	if _, err := policy.Authorize(t.Context(), heavy, lookup); err == nil ||
		!strings.Contains(err.Error(), "2000 requests") || !strings.Contains(err.Error(), "200 connections") {
		t.Errorf("two thirds: %v", err)
	}
}

func TestRead(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "",
		"allow: []":                          "",
		"allow: [10.0.0.0/8]\nmax_rate: 1e4": "",
		"allow: [10.0.0.0/99, web1]":         `"web1"`,
		"allow: ['::ffff:10.0.0.0/104']":     "not an address",
		"alow: [10.0.0.0/8]":                 "alow is no setting of a policy",
		"ports: [0]":                         `"0"`,
		"ports: [90-80]":                     `"90-80"`,
		"ports: [70000]":                     `"70000"`,
		"hosts: ['[']":                       "pattern",
		"hosts: ['']":                        "pattern",
		"max_rate: -1":                       "no rate",
		"max_rate: .nan":                     "no rate",
		"max_connections: -1":                "below 0",
		"max_duration: soon":                 `"soon"`,
		"max_duration: 0s":                   `"0s"`,
		"allow: 3":                           "cannot unmarshal",
		"--- {}\n--- {}":                     "another follows",
		"max_rate: -1\nports: [x]":           `"x"`,
	} {
		_, err := ReadPolicy(strings.NewReader(text))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if p := read(t, "allow: []"); len(p.Allow) != 0 || p.whyForbidden(netip.MustParseAddr("127.0.0.1")) == "" {
		t.Error("an empty list allows something")
	}
	if _, err := ReadPolicy(strings.NewReader(strings.Repeat("#", fileMax+1))); err == nil {
		t.Error("any length is read")
	}
	name := filepath.Join(t.TempDir(), "agent.yaml")
	if _, err := ReadFile(name); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if err := os.WriteFile(name, []byte("ports: [x]"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFile(name); err == nil || !strings.Contains(err.Error(), name) {
		t.Error(err)
	}
}

func TestString(t *testing.T) {
	p := read(t, "allow: [10.0.0.0/8]\ndeny: [10.9.0.0/16]\nhosts: ['*.a']\ndeny_hosts: [b.a]\nports: [80, 8000-8010]\n"+
		"max_rate: 1500\nmax_connections: 7\nmax_duration: 90s")
	want := "to 10.0.0.0/8, not to 10.9.0.0/16, hosts *.a, not hosts b.a, ports 80 8000-8010, 1500/s at most, " +
		"7 connections at most, 1m30s at most"
	if p.String() != want {
		t.Error(p)
	}
}

// Whatever the file says, what no policy allows is forbidden.
func FuzzRead(f *testing.F) {
	f.Add("allow: [0.0.0.0/0]\nports: [80]\n")
	f.Add("deny: ['::/0']\nhosts: ['*']\nmax_duration: 1h\n")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ReadPolicy(strings.NewReader(text))
		if err != nil {
			return
		}
		for _, a := range []string{"169.254.169.254", "0.0.0.0", "::", "ff02::1", "fe80::1"} {
			if p.whyForbidden(netip.MustParseAddr(a)) == "" {
				t.Errorf("%q allows %s", text, a)
			}
		}
		_ = p.String()
		p.Authorize(t.Context(), to("10.0.0.1", 80), names(nil))
	})
}

// No redirect leads an agent to a server that its policy has not judged, whatever it allows.
func TestOtherOrigins(t *testing.T) {
	p := to("10.0.0.1", 80)
	p.Follow, p.FollowTo = 1, []loadplan.Target{{Host: "10.0.0.1", Port: 81}}
	if _, err := read(t, "allow: [0.0.0.0/0]\n").Authorize(t.Context(), p, nil); err == nil ||
		!strings.Contains(err.Error(), "redirects would lead to other servers than the plan's") {
		t.Error(err)
	}
}

// A script of somebody else runs only where the owner allows scripts.
func TestScripts(t *testing.T) {
	p := to("10.0.0.1", 80)
	p.Script = &loadplan.Script{File: "x.lua"}
	if _, err := Default().Authorize(t.Context(), p, nil); err == nil ||
		!strings.Contains(err.Error(), "its policy lets it run no scripts; its owner can write scripts: true there") {
		t.Error(err)
	}
	allows := read(t, "scripts: true\n")
	if _, err := allows.Authorize(t.Context(), p, nil); err != nil || !strings.HasSuffix(allows.String(), ", scripts") {
		t.Error(err, allows)
	}
}

// A proxy is judged as the target is, and the load connects to the proxy's judged addresses alone. What it
// would look up or could take from a Host, which nobody here can judge, its owner allows.
func TestProxy(t *testing.T) {
	lookup := names(map[string]string{"lan": "10.0.0.1", "public": "203.0.113.9", "proxy": "10.0.0.2 10.0.0.3", "forbidden": "10.0.0.9"})
	const file = "ports: [80, 443, 3128]\ndeny_hosts: [forbidden]\n"
	host := func(s string) func(*loadplan.Plan) {
		return func(p *loadplan.Plan) { p.Requests[0].Header = []proto.Field{{Name: "host", Value: s}} }
	}
	for _, c := range []struct {
		target, proxy, against string // what is against it by default
		trusting               string // and with proxies: true
		change                 func(*loadplan.Plan)
	}{
		{target: "10.0.0.1", proxy: "proxy:3128"},
		{target: "10.0.0.1", proxy: "public:3128", against: "203.0.113.9, an address of public", trusting: "203.0.113.9"},
		{target: "10.0.0.1", proxy: "proxy:22", against: "port 22 is not among those", trusting: "port 22"},
		{target: "10.0.0.1", proxy: "nowhere:3128", against: "cannot look up nowhere", trusting: "cannot look up nowhere"},
		{target: "10.0.0.1", proxy: "forbidden:3128", against: "forbids forbidden", trusting: "forbids forbidden"},
		{target: "203.0.113.9", proxy: "proxy:3128", against: "203.0.113.9, an address of", trusting: "203.0.113.9"},
		{target: "lan", proxy: "proxy:3128", against: "the proxy looks up that of lan"},
		{target: "nowhere", proxy: "proxy:3128", against: "that of nowhere"},
		{target: "127.1", proxy: "proxy:3128", against: "that of 127.1"},
		{target: "forbidden", proxy: "proxy:3128", against: "that of forbidden", trusting: "its policy forbids forbidden"},
		{target: "public", proxy: "proxy:3128", against: "that of public", trusting: "203.0.113.9, an address of public"},

		{target: "10.0.0.1", proxy: "proxy:3128", change: host("10.0.0.1:80")},
		{target: "10.0.0.1", proxy: "proxy:3128", change: host("public"), against: "another Host"},
		{target: "10.0.0.1", proxy: "proxy:3128", change: host("10.0.0.1:81"), against: "another Host"},
		{target: "10.0.0.1", proxy: "proxy:3128", against: "another Host", change: func(p *loadplan.Plan) {
			p.Requests[0].Authority = "public"
		}},
		{target: "10.0.0.1", proxy: "proxy:3128", against: "another Host", change: func(p *loadplan.Plan) {
			host("10.0.0.1")(p)
			p.Requests[0].Holes = []proto.Hole{{In: proto.InHeader, At: 8}}
		}},
		{target: "10.0.0.1", proxy: "proxy:3128", change: func(p *loadplan.Plan) { // which sees no Host
			host("public")(p)
			p.Target.URL, p.Target.TLS, p.Target.Port = "https://10.0.0.1/", true, 443
		}},
		{target: "10.0.0.1", proxy: "", change: host("public")},
	} {
		for _, trusts := range []bool{false, true} {
			p := to(c.target, 80)
			p.Requests[0].Authority = c.target
			if c.proxy != "" {
				p.Proxy = "http://u:p@" + c.proxy
			}
			if c.change != nil {
				c.change(&p)
			}
			text, against := file, c.against
			if trusts {
				text, against = file+"proxies: true\n", c.trusting
			}
			allowed, err := read(t, text).Authorize(t.Context(), p, lookup)
			want := []netip.Addr{netip.MustParseAddr("10.0.0.2"), netip.MustParseAddr("10.0.0.3")}
			if c.proxy == "" {
				want = []netip.Addr{netip.MustParseAddr("10.0.0.1")}
			}
			switch {
			case against == "" && (err != nil || !slices.Equal(allowed.Addresses, want)):
				t.Errorf("%s by %s, %v: %v, %v", c.target, c.proxy, trusts, allowed.Addresses, err)
			case against != "" && (err == nil || !strings.Contains(err.Error(), against)):
				t.Errorf("%s by %s, %v: %v, want %s", c.target, c.proxy, trusts, err, against)
			}
		}
	}
	script := to("10.0.0.1", 80)
	script.Proxy, script.Script = "http://10.0.0.2:3128", &loadplan.Script{}
	if _, err := read(t, "scripts: true\n").Authorize(t.Context(), script, lookup); err == nil || !strings.Contains(err.Error(), "another Host") {
		t.Error(err)
	}
	if allows := read(t, "proxies: true\n"); !strings.HasSuffix(allows.String(), ", proxies") {
		t.Error(allows)
	}
}
