package fairness

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
)

// activeOpens is how many TCP connects have begun in this process's network
// namespace since it exists.
func activeOpens() (int64, error) {
	b, err := os.ReadFile("/proc/net/snmp")
	if err != nil {
		return 0, fmt.Errorf("the kernel's counters cannot be read: %w", err)
	}
	return parseActiveOpens(b)
}

// parseActiveOpens finds the counter in two lines that both begin with "Tcp:",
// names above values.
func parseActiveOpens(b []byte) (int64, error) {
	var names [][]byte
	for line := range bytes.Lines(b) {
		words := bytes.Fields(line)
		if len(words) == 0 || string(words[0]) != "Tcp:" {
			continue
		}
		if names == nil {
			names = words
			continue
		}
		for i, name := range names {
			if string(name) == "ActiveOpens" && i < len(words) {
				return strconv.ParseInt(string(words[i]), 10, 64)
			}
		}
	}
	return 0, errors.New("the kernel's /proc/net/snmp has no Tcp ActiveOpens")
}
