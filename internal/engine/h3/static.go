package h3

import (
	"dyno/internal/engine/proto"
	"dyno/internal/engine/proto/fields"
)

// staticTable is QPACK's (RFC 9204, appendix A). Its indices begin with 0.
var staticTable = [...]proto.Field{
	{Name: ":authority"}, {Name: ":path", Value: "/"}, {Name: "age", Value: "0"},
	{Name: "content-disposition"}, {Name: "content-length", Value: "0"}, {Name: "cookie"},
	{Name: "date"}, {Name: "etag"}, {Name: "if-modified-since"}, {Name: "if-none-match"},
	{Name: "last-modified"}, {Name: "link"}, {Name: "location"}, {Name: "referer"},
	{Name: "set-cookie"}, {Name: ":method", Value: "CONNECT"},
	{Name: ":method", Value: "DELETE"}, {Name: ":method", Value: "GET"},
	{Name: ":method", Value: "HEAD"}, {Name: ":method", Value: "OPTIONS"},
	{Name: ":method", Value: "POST"}, {Name: ":method", Value: "PUT"},
	{Name: ":scheme", Value: "http"}, {Name: ":scheme", Value: "https"},
	{Name: ":status", Value: "103"}, {Name: ":status", Value: "200"},
	{Name: ":status", Value: "304"}, {Name: ":status", Value: "404"},
	{Name: ":status", Value: "503"}, {Name: "accept", Value: "*/*"},
	{Name: "accept", Value: "application/dns-message"},
	{Name: "accept-encoding", Value: "gzip, deflate, br"},
	{Name: "accept-ranges", Value: "bytes"},
	{Name: "access-control-allow-headers", Value: "cache-control"},
	{Name: "access-control-allow-headers", Value: "content-type"},
	{Name: "access-control-allow-origin", Value: "*"},
	{Name: "cache-control", Value: "max-age=0"},
	{Name: "cache-control", Value: "max-age=2592000"},
	{Name: "cache-control", Value: "max-age=604800"}, {Name: "cache-control", Value: "no-cache"},
	{Name: "cache-control", Value: "no-store"},
	{Name: "cache-control", Value: "public, max-age=31536000"},
	{Name: "content-encoding", Value: "br"}, {Name: "content-encoding", Value: "gzip"},
	{Name: "content-type", Value: "application/dns-message"},
	{Name: "content-type", Value: "application/javascript"},
	{Name: "content-type", Value: "application/json"},
	{Name: "content-type", Value: "application/x-www-form-urlencoded"},
	{Name: "content-type", Value: "image/gif"}, {Name: "content-type", Value: "image/jpeg"},
	{Name: "content-type", Value: "image/png"}, {Name: "content-type", Value: "text/css"},
	{Name: "content-type", Value: "text/html; charset=utf-8"},
	{Name: "content-type", Value: "text/plain"},
	{Name: "content-type", Value: "text/plain;charset=utf-8"},
	{Name: "range", Value: "bytes=0-"},
	{Name: "strict-transport-security", Value: "max-age=31536000"},
	{Name: "strict-transport-security", Value: "max-age=31536000; includesubdomains"},
	{Name: "strict-transport-security", Value: "max-age=31536000; includesubdomains; preload"},
	{Name: "vary", Value: "accept-encoding"}, {Name: "vary", Value: "origin"},
	{Name: "x-content-type-options", Value: "nosniff"},
	{Name: "x-xss-protection", Value: "1; mode=block"}, {Name: ":status", Value: "100"},
	{Name: ":status", Value: "204"}, {Name: ":status", Value: "206"},
	{Name: ":status", Value: "302"}, {Name: ":status", Value: "400"},
	{Name: ":status", Value: "403"}, {Name: ":status", Value: "421"},
	{Name: ":status", Value: "425"}, {Name: ":status", Value: "500"}, {Name: "accept-language"},
	{Name: "access-control-allow-credentials", Value: "FALSE"},
	{Name: "access-control-allow-credentials", Value: "TRUE"},
	{Name: "access-control-allow-headers", Value: "*"},
	{Name: "access-control-allow-methods", Value: "get"},
	{Name: "access-control-allow-methods", Value: "get, post, options"},
	{Name: "access-control-allow-methods", Value: "options"},
	{Name: "access-control-expose-headers", Value: "content-length"},
	{Name: "access-control-request-headers", Value: "content-type"},
	{Name: "access-control-request-method", Value: "get"},
	{Name: "access-control-request-method", Value: "post"}, {Name: "alt-svc", Value: "clear"},
	{Name: "authorization"},
	{Name: "content-security-policy", Value: "script-src 'none'; object-src 'none'; base-uri 'none'"},
	{Name: "early-data", Value: "1"}, {Name: "expect-ct"}, {Name: "forwarded"},
	{Name: "if-range"}, {Name: "origin"}, {Name: "purpose", Value: "prefetch"}, {Name: "server"},
	{Name: "timing-allow-origin", Value: "*"}, {Name: "upgrade-insecure-requests", Value: "1"},
	{Name: "user-agent"}, {Name: "x-forwarded-for"}, {Name: "x-frame-options", Value: "deny"},
	{Name: "x-frame-options", Value: "sameorigin"},
}

// A staticEntry is a field of the table, as the decoder has it.
type staticEntry struct {
	field       fields.Field
	name, value []byte
}

var staticEntries = newStaticEntries()

func newStaticEntries() (all [len(staticTable)]staticEntry) {
	for i, f := range staticTable {
		name, value := []byte(f.Name), []byte(f.Value)
		all[i] = staticEntry{fields.Named(name).With(value), name, value}
	}
	return all
}
