// Package settingtest has a good and a wrong value for each setting that a plan has, for the tests
// that take every setting through every door.
package settingtest

import "time"

// A Sample is values of a setting.
type Sample struct {
	Good, Wrong string   // as its flag has them, and a form, and a file; Good is not the default
	With        []string // flags that Good needs, as --rate=100
	URL         string   // that it needs; "": http://127.0.0.1:1/

	// How several generators of a load divide it; neither: each has it as it is, of a rate the whole.
	Shared bool // each has a share, and together they have Good
	First  bool // the first one alone has it

	// Value and WrongValue are the same for the field of the library; nil: the texts themselves.
	Value, WrongValue any
}

// TLS and FastCGI are URLs of samples.
const (
	TLS     = "https://127.0.0.1:1/"
	FastCGI = "fcgi://127.0.0.1:1/"
)

// File is a file beside the tests of cli that can be read.
const File = "testdata/vs.golden"

// Samples are by the names of the settings.
var Samples = map[string]Sample{
	"connections": {Good: "7", Wrong: "0", Shared: true, Value: 7, WrongValue: -1},
	"duration":    {Good: "3s", Wrong: "3 apples", Value: 3 * time.Second, WrongValue: -time.Second},
	"requests":    {Good: "60", Wrong: "0", Shared: true, Value: int64(60), WrongValue: int64(-1)},
	"rate":        {Good: "100", Wrong: "0", Value: 100.0, WrongValue: -1.0},
	"arrival":     {Good: "poisson", Wrong: "x", With: []string{"--rate=100"}, Value: true},
	"stage":       {Good: "1s:100", Wrong: "1s"},
	"seed": {Good: "8", Wrong: "0",
		With: []string{"--rate=100", "--arrival=poisson"}, Value: uint64(8)},
	"probe":   {Good: "5", Wrong: "0", First: true},
	"warmup":  {Good: "1s", Wrong: "-1", Value: time.Second, WrongValue: -time.Second},
	"drain":   {Good: "3s", Wrong: "x", Value: 3 * time.Second, WrongValue: -time.Second},
	"timeout": {Good: "5s", Wrong: "0", Value: 5 * time.Second, WrongValue: -time.Second},
	"threads": {Good: "3", Wrong: "0", Shared: true, Value: 3, WrongValue: -1},
	"cpus":    {Good: "0", Wrong: "x"}, // each generator has one at least
	"ring":    {Good: "portable", Wrong: "x"},
	"linger":  {Good: "100us", Wrong: "x"},
	"spin":    {Good: "true", Wrong: "x"},
	"users":   {Good: "90", Wrong: "0", Shared: true, Value: 90, WrongValue: -1},
	"accept-encoding": {Good: "gzip,br;q=0.5", Wrong: "gizp", Value: "gzip,br;q=0.5",
		WrongValue: "gizp"},
	"auth":          {Good: "digest", Wrong: "sigv4:x", With: []string{"--user=USER:PASSWORD"}},
	"user":          {Good: "USER:PASSWORD", Wrong: "x", With: []string{"--auth=digest"}},
	"chunk-size":    {Good: "100", Wrong: "0", Value: 100, WrongValue: -1},
	"expect-body":   {Good: "contains:a", Wrong: "x"},
	"expect-header": {Good: "A: b", Wrong: ": b"},
	"expect":        {Good: "404", Wrong: "x", Value: "404", WrongValue: "x"},
	"follow-to":     {Good: "https://b.example", Wrong: "x", With: []string{"--follow=3"}},
	"follow":        {Good: "3", Wrong: "101", Value: 3, WrongValue: 101},

	"stream":        {Good: "sse", Wrong: "7"},
	"stream-count":  {Good: "$.a", Wrong: "$..a", With: []string{"--stream=sse"}},
	"stream-tokens": {Good: "$.a", Wrong: "a", With: []string{"--stream=sse"}},
	"stream-end":    {Good: "[DONE]", Wrong: "$[", With: []string{"--stream=sse"}},
	"stream-error":  {Good: "$.a", Wrong: "$[?@.a]", With: []string{"--stream=sse"}},
	"goodput":       {Good: "latency<500ms", Wrong: "p99<1s"},
	"stream-take":   {Good: "7", Wrong: "x", With: []string{"--stream=sse"}},
	"stall":         {Good: "7s", Wrong: "x", With: []string{"--stream=sse"}},

	"reconnect":    {Good: "100", Wrong: "x"},
	"retry-unsafe": {Good: "true", Wrong: "x", Value: true},
	"http":         {Good: "1.0", Wrong: "x", Value: "1.0", WrongValue: "x"},
	"pipeline":     {Good: "4", Wrong: "0"},
	"streams":      {Good: "4", Wrong: "0", With: []string{"--http=2"}},
	"fcgi-param":   {Good: "A=b", Wrong: "x", URL: FastCGI},
	"resolve-every": {Good: "2s", Wrong: "1ms", URL: "http://localhost:1/", Value: 2 * time.Second,
		WrongValue: time.Millisecond},
	"proxy": {Good: "http://127.0.0.1:3128", Wrong: "http://127.0.0.1", Value: "http://127.0.0.1:3128",
		WrongValue: "socks5://127.0.0.1:1"},
	"proxy-protocol":  {Good: "v2", Wrong: "2", Value: "v2", WrongValue: "2"},
	"source":          {Good: "127.0.0.1/32", Wrong: "x"},
	"connect-rate":    {Good: "10", Wrong: "0"},
	"connect-timeout": {Good: "3s", Wrong: "x"},

	"insecure":   {Good: "true", Wrong: "x", URL: TLS, Value: true},
	"cacert":     {Good: File, Wrong: "nosuch.pem", URL: TLS},
	"cert":       {Good: File, Wrong: "nosuch.pem", With: []string{"--key=" + File}, URL: TLS},
	"key":        {Good: File, Wrong: "nosuch.pem", With: []string{"--cert=" + File}, URL: TLS},
	"sni":        {Good: "a.example", Wrong: "a.example:443", URL: TLS},
	"alpn":       {Good: "http/1.1", Wrong: "x", URL: TLS},
	"tls-min":    {Good: "1.3", Wrong: "9", URL: TLS},
	"tls-max":    {Good: "1.2", Wrong: "9", URL: TLS},
	"tls-resume": {Good: "on", Wrong: "x", URL: TLS},

	"show": {Good: "3", Wrong: "0"},
}
