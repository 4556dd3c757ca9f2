package loadplan

import (
	"cmp"
	"net/netip"
	"strconv"
	"strings"
)

// ProxyVariable is the environment variable that names a proxy for the target, as curl and others
// read it; "" if there is none, or NO_PROXY excludes the target. dyno connects directly.
func (t Target) ProxyVariable(getenv func(string) string) string {
	names := []string{"http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"}
	if t.TLS {
		names = []string{"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"}
	}
	if t.Unix != "" || t.FastCGI || t.excluded(cmp.Or(getenv("no_proxy"), getenv("NO_PROXY"))) {
		return ""
	}
	for _, name := range names {
		if getenv(name) != "" {
			return name
		}
	}
	return ""
}

// excluded reports whether a list of NO_PROXY has the target: *, a name with all below it, an
// address or a prefix of addresses, each but the last with a port if it is only about that.
func (t Target) excluded(list string) bool {
	for entry := range strings.SplitSeq(list, ",") {
		if entry = strings.ToLower(strings.TrimSpace(entry)); entry == "*" {
			return true
		}
		if p, err := netip.ParsePrefix(entry); err == nil {
			if a, literal := t.LiteralAddress(); literal && p.Contains(a.Addr()) {
				return true
			}
			continue
		}
		entry = strings.TrimSuffix(entry, ":"+strconv.Itoa(int(t.Port)))
		entry = strings.TrimPrefix(strings.TrimPrefix(entry, "*"), ".")
		entry = strings.TrimSuffix(strings.TrimPrefix(entry, "["), "]")
		host := strings.ToLower(t.Host)
		if entry != "" && (host == entry || strings.HasSuffix(host, "."+entry)) {
			return true
		}
	}
	return false
}
