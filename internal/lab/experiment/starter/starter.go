// Package starter has the experiment file that dyno lab init writes to begin with.
package starter

import (
	"bytes"
	_ "embed"
	"fmt"
	"strconv"
	"strings"
)

//go:embed starter.yaml
var plain []byte

// Plain is an experiment file to begin with. It runs unchanged, and needs only dyno.
func Plain() []byte { return bytes.Clone(plain) }

// Hurl is Plain with a workload that runs a Hurl file. stream is the format of the answers that the
// file says are streams; "": none. variables are those that the file needs besides base; each has
// its name as its value.
func Hurl(file, stream string, variables []string) []byte {
	var b strings.Builder
	b.WriteString("  hurl: " + strconv.Quote(file) +
		"           # {{base}} is the address of each variant\n")
	writeStream(&b, stream)
	for i, v := range variables {
		if i == 0 {
			b.WriteString("  variables:\n")
		}
		fmt.Fprintf(&b, "    %s: %s\n", strconv.Quote(v), strconv.Quote(v))
	}
	b.WriteString("  # data: users.csv             # instead of variables: its columns are " +
		"variables,\n                                # its rows are dealt out to the users\n")
	return withWorkload(b.String())
}

// writeStream writes which format answers have that are streams, as the file says that is run.
func writeStream(b *strings.Builder, format string) {
	if format != "" {
		b.WriteString("  stream: " + format + "                # the answers that it says are streams\n")
	}
}

// Script is Plain with a workload that runs a script in Lua with these arguments. stream is as that
// of Hurl.
func Script(file, stream string, args []string) []byte {
	var b strings.Builder
	b.WriteString("  script: " + strconv.Quote(file) +
		"           # in Lua, with wrk's API: it makes the requests\n")
	writeStream(&b, stream)
	if len(args) > 0 {
		quoted := make([]string, len(args))
		for i, a := range args {
			quoted[i] = strconv.Quote(a)
		}
		b.WriteString("  script_args: [" + strings.Join(quoted, ", ") + "]\n")
	} else {
		b.WriteString("  # script_args: [fast, 10]   # the arguments of its function init\n")
	}
	b.WriteString("  # request: {method: GET, path: /}  # wrk.method, wrk.path ... begin so" +
		"\n  expect: {status: 200}         # dyno.check checks more than that\n")
	return withWorkload(b.String())
}

// withWorkload is Plain with this text as its workload.
func withWorkload(workload string) []byte {
	const head = "workload:\n"
	before, rest, _ := strings.Cut(string(plain), head)
	_, rest, _ = strings.Cut(rest, "\n\n")
	return []byte(before + head + workload + "\n" + rest)
}
