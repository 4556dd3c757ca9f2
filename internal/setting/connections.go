package setting

import (
	"strings"

	"dyno/internal/digits"
	"dyno/internal/engine/loadplan"
	"dyno/internal/engine/proxyproto"
)

// connections is how connections are opened and used.
var connections = []Setting{
	{Name: "reconnect", Value: "WHEN", Group: connectionGroup, On: All,
		Does:   "never, always, or after N requests ({default})",
		Values: []string{"never", "always"}, Free: true,
		Access: at(func(p *loadplan.Plan) *int { return &p.Reconnect }, ParseReconnect, ReconnectText),
		Field:  "Reconnect", Key: "level.reconnect",
		Schema: KeyWords{`"type": ["string", "integer"], "minimum": 1, ` +
			`"pattern": "^(never|always|[0-9]+)$"`, "{default} (default), always, or after how many " +
			"requests"},
		Form: &Form{Hint: Hint{Choices: []string{"never", "always", "100"}}},
		Says: func(p *loadplan.Plan) string {
			switch p.Reconnect {
			case 0:
				return ""
			case 1:
				return "a connection for each request"
			}
			return "a connection for each " + digits.Plural(int64(p.Reconnect), "request")
		},
		Stored: "exchanges a connection carries; 0: as many as it will"},
	{Name: "retry-unsafe", Group: connectionGroup, On: All,
		Does: "if a connection is lost before an answer, send a POST or PATCH\n" +
			"again, too, which the server may carry out twice",
		Access: retryUnsafe(), Field: "Resend", Library: "RetryUnsafe", Key: "level.retry_unsafe",
		Schema: KeyWords{`"type": "boolean"`, "if a connection is lost before an answer, send requests " +
			"of methods that are not idempotent, as POST, again, too"},
		Stored: "what is sent again where a connection was lost before a byte of the answer: " +
			"everything, requests of safe methods, nothing; absent: those of idempotent methods (RFC " +
			"9110, 9.2.2)", StoredType: `"enum": ["unsafe", "safe", "never"]`},
	{Name: "http", Value: "VERSION", Group: connectionGroup, On: All,
		Does: "auto, 1.0, 1.1, 2 or 3 ({default}: over TLS what the server chooses of\n" +
			"2 and 1.1, else 1.1)", Values: strings.Fields("auto 1.0 1.1 2 3"),
		Access: text(func(p *loadplan.Plan) *string { return &p.HTTP }).showing(
			func(p *loadplan.Plan, differs bool) bool { // the URL says the other versions
				return differs && !p.Target.FastCGI && !p.Target.H2C
			}),
		Field: "HTTP", Library: "HTTP", Key: "level.http",
		Schema: KeyWords{oneOf,
			"version; default {default}: what the url says, and 1.1 of http and https"},
		Form: &Form{}, Stored: "version of the protocol, such as 1.1; auto: over TLS the server's " +
			"choice of 2 and 1.1, else 1.1"},
	{Name: "pipeline", Value: "N", Group: connectionGroup, On: All,
		Least: 1, Most: loadplan.MaxPipeline,
		Does:   "requests of HTTP/1.1 in flight at once on a connection ({default})",
		Access: count(func(p *loadplan.Plan) *int { return &p.Pipeline }, ParseInt),
		Field:  "Pipeline", Key: "level.pipeline",
		Schema: KeyWords{`"type": "integer"`,
			"exchanges under way at once on a connection; default {default}"},
		Form:   &Form{Hint: Hint{Unit: "requests"}},
		Stored: "exchanges of HTTP/1.1 under way at once on a connection"},
	{Name: "streams", Value: "N", Group: connectionGroup, On: Run | Find,
		Does: "requests of HTTP/2 or 3 in flight at once on a connection ({default})",
		Access: count(func(p *loadplan.Plan) *int { return &p.Streams }, ParseInt).showing(
			func(p *loadplan.Plan, differs bool) bool { return differs && p.Streams > 0 }),
		Field: "Streams", Form: &Form{Hint: Hint{Unit: "requests"}}, Stored: "those of HTTP/2 or 3"},
	{Name: "fcgi-param", Value: "K=V", Group: connectionGroup, On: Run | Find,
		Does: "a parameter of every FastCGI request; {again}",
		Access: each(func(p *loadplan.Plan) *[]loadplan.Param { return &p.Params }, parseParam,
			func(v loadplan.Param) string { return v.Name + "=" + v.Value }),
		Field: "Params", Form: &Form{},
		Stored: "of every FastCGI request, besides dyno's own or instead of them"},
	{Name: "connect-to", Value: "HOST:PORT", Group: connectionGroup, On: Run | Find,
		Does: "connect there, and still ask for the URL's host", Form: &Form{}},
	{Name: "proxy-protocol", Value: "VERSION", Group: connectionGroup, On: All,
		Does: "begin each connection, before TLS, with the header of the PROXY\n" +
			"protocol: v1 or v2", Values: proxyproto.Versions,
		Access: text(func(p *loadplan.Plan) *string { return &p.ProxyProtocol }),
		Field:  "ProxyProtocol", Library: "ProxyProtocol", Key: "level.proxy_protocol",
		Schema: KeyWords{oneOf, "version of the PROXY protocol's header that each " +
			"connection begins with; default: none"},
		Form:   &Form{},
		Stored: "version of the PROXY protocol's header that each connection begins with; absent: none"},
	{Name: "proxy", Value: "URL", Group: connectionGroup, On: All,
		Does: "connect to this proxy, http://[USER:PASSWORD@]HOST:PORT, and have it\n" +
			"forward http:// URLs, and open a tunnel (CONNECT) for others", Secret: true,
		Access: text(func(p *loadplan.Plan) *string { return &p.Proxy }),
		Field:  "Proxy", Library: "Proxy", Key: "level.proxy",
		Schema: KeyWords{`"type": "string"`, "proxy that connections lead to, as http://HOST:PORT or " +
			"http://USER:PASSWORD@HOST:PORT; default: none"},
		Says: func(p *loadplan.Plan) string {
			if p.Proxy == "" {
				return ""
			}
			return "through the proxy " + p.DialedName()
		},
		Stored: "proxy that connections lead to, its password redacted; absent: none"},
	{Name: "resolve-every", Value: "D", Group: connectionGroup, On: All,
		Does: "look the host up again each D: next connections go to the addresses\n" +
			"that its name then has",
		Access: span(func(p *loadplan.Plan) *loadplan.Seconds { return &p.ResolveEvery }).showing(
			func(p *loadplan.Plan, _ bool) bool { return p.ResolveEvery > 0 }),
		Field: "ResolveEvery", Library: "ResolveEvery", Key: "level.resolve_every",
		Schema: KeyWords{`"$ref": "#/$defs/duration"`, "after how long the url's host is looked up " +
			"again; default: never"},
		Form:   &Form{Hint: Hint{Unit: "s"}},
		Stored: "after how long the host is looked up again; absent: never"},
	{Name: "source", Value: "IP,IP|CIDR", Group: connectionGroup, On: Run | Find,
		Does: "connect from these addresses of this machine, in turn",
		Access: at(func(p *loadplan.Plan) *[]loadplan.Source { return &p.Source }, parseSources,
			list(loadplan.Source.String)),
		Field:  "Source",
		Stored: "local addresses and ranges to connect from; absent: the system's choice"},
	{Name: "connect-rate", Value: "N", Group: connectionGroup, On: Run | Find,
		Does:   "at the start, open N connections per second (all at once)",
		Access: rate(func(p *loadplan.Plan) *loadplan.Rate { return &p.ConnectRate }),
		Field:  "ConnectRate", Form: &Form{Hint: Hint{Unit: "connections/s"}},
		Stored: "connections opened a second; absent: at once"},
	{Name: "connect-timeout", Value: "D", Group: connectionGroup, On: Run | Find,
		Does:   "for a connection, TLS included ({default})",
		Access: span(func(p *loadplan.Plan) *loadplan.Seconds { return &p.Connecting }),
		Field:  "Connecting", Form: &Form{Hint: Hint{Unit: "s"}},
		Stored: "of a connection, TLS included"},
}

// retryUnsafe is the access to what is sent again, of which a flag can ask for one kind.
func retryUnsafe() Access {
	set := func(p *loadplan.Plan, on bool) {
		if on {
			p.Resend = loadplan.ResendUnsafe
		}
	}
	return Access{
		Set: func(p *loadplan.Plan, s string) error {
			on, err := ParseSwitch(s)
			set(p, on)
			return err
		},
		Text: func(p *loadplan.Plan) []string {
			if p.Resend != loadplan.ResendUnsafe {
				return nil
			}
			return []string{"true"}
		},
		Take: func(p *loadplan.Plan, on any) error {
			set(p, on.(bool))
			return nil
		},
	}
}

// versions are those of TLS, as flags have them.
var versions = strings.Fields("1.0 1.1 1.2 1.3")

// tlsRows is how the server is authenticated, and we to it.
var tlsRows = []Setting{
	{Name: "insecure", Group: tlsGroup, On: Run | Find, Does: "accept any certificate",
		Access: turn(func(p *loadplan.Plan) *bool { return &p.TLS.Insecure }),
		Field:  "Insecure", Stored: "any certificate was accepted", Library: "Insecure", Form: &Form{}},
	{Name: "cacert", Value: "FILE", Group: tlsGroup, On: Run | Find,
		Does:   "trust these certificates instead of the system's",
		Access: readable(func(p *loadplan.Plan) *string { return &p.TLS.CAFile }),
		Field:  "CAFile", Stored: "file of the authorities trusted", Library: "RootCAs"},
	{Name: "cert", Value: "FILE", Group: tlsGroup, On: Run | Find,
		Does:   "our certificate, for servers that ask for one",
		Access: readable(func(p *loadplan.Plan) *string { return &p.TLS.CertFile }),
		Field:  "CertFile", Stored: "file of the certificate shown"},
	{Name: "key", Value: "FILE", Group: tlsGroup, On: Run | Find, Does: "its key",
		Access: readable(func(p *loadplan.Plan) *string { return &p.TLS.KeyFile }),
		Field:  "KeyFile", Stored: "file of its key"},
	{Name: "sni", Value: "NAME", Group: tlsGroup, On: Run | Find,
		Does:   "server name to ask for and to verify (the URL's host)",
		Access: text(func(p *loadplan.Plan) *string { return &p.TLS.ServerName }),
		Field:  "ServerName", Stored: "name asked for and verified", Form: &Form{}},
	{Name: "alpn", Value: "LIST", Group: tlsGroup, On: Run | Find,
		Does:   "protocols to offer, in this order, as http/1.1,h2; or none\n(as --http says)",
		Values: []string{"h2", "http/1.1", "h2,http/1.1", "none"}, Free: true,
		Access: text(func(p *loadplan.Plan) *string { return &p.TLS.ALPN }),
		Field:  "ALPN", Stored: "protocols offered, comma-separated, or none"},
	{Name: "tls-min", Value: "VERSION", Group: tlsGroup, On: Run | Find,
		Does: "lowest version: 1.0, 1.1, 1.2 or 1.3 (1.2)", Values: versions,
		Access: text(func(p *loadplan.Plan) *string { return &p.TLS.MinVersion }),
		Field:  "MinVersion", Stored: "lowest version offered", StoredType: oneOf},
	{Name: "tls-max", Value: "VERSION", Group: tlsGroup, On: Run | Find,
		Does: "highest version (1.3)", Values: versions,
		Access: text(func(p *loadplan.Plan) *string { return &p.TLS.MaxVersion }),
		Field:  "MaxVersion", Stored: "highest version offered", StoredType: oneOf},
	{Name: "tls-resume", Value: "on|off", Group: tlsGroup, On: Run | Find,
		Does: "resume sessions of the thread's earlier connections (off: every\n" +
			"handshake is a full one)",
		Access: at(func(p *loadplan.Plan) *bool { return &p.TLS.Resume }, parseOnOff, onText),
		Field:  "Resume",
		Stored: "sessions of earlier connections were resumed where the server let us"},
}

// unset are fields of a plan that no flag sets, by what messages call them.
var unset = []Setting{
	{Field: "URL", Called: "URL", Library: "URL"}, {Field: "KeyLogFile", Called: "SSLKEYLOGFILE"},
	{Field: "Scenario", Called: "scenario", Library: "Scenario"}, {Field: "Cap", Called: "cap"},
	{Field: "Part", Called: "part"}, {Field: "Parts", Called: "parts"},
	{Field: "Weights", Called: "weights"}, {Field: "Before", Called: "requests before"},
	{Field: "UsersBefore", Called: "users before"},
}
