package loadplan

import (
	"fmt"
	"net/netip"
	"strings"
)

// A Source is local addresses to connect from: one, or a range of them.
type Source struct {
	Range netip.Prefix
	Zone  string // of link-local addresses: the name or number of their interface; else ""
}

// ParseSource reads an address or a range: 10.0.0.7, 127.0.0.0/28, fe80::1%eth0, or as String
// writes them.
func ParseSource(s string) (Source, error) {
	text, bits, ranged := strings.Cut(s, "/")
	a, err := netip.ParseAddr(text)
	if err != nil {
		return Source{}, err
	}
	a = a.Unmap()
	from := Source{netip.PrefixFrom(a, a.BitLen()), a.Zone()} // a Prefix has no zone
	if ranged {
		from.Range, err = netip.ParsePrefix(a.WithZone("").String() + "/" + bits)
	}
	return from, err
}

// String writes a source as ParseSource reads it.
func (s Source) String() string {
	return fmt.Sprintf("%v/%d", s.Range.Addr().WithZone(s.Zone), s.Range.Bits())
}

// MarshalText is String.
func (s Source) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText is ParseSource.
func (s *Source) UnmarshalText(text []byte) (err error) {
	*s, err = ParseSource(string(text))
	return err
}

// sourcesMost is the largest number of local addresses that a run connects from.
const sourcesMost = 1 << 12

// SourceAddrs are the addresses of the plan's sources, at most 4,096 of them, whether or not this
// machine has them.
func (p *Plan) SourceAddrs() (all []netip.Addr) {
	for _, s := range p.Source {
		r := s.Range
		for a := r.Masked().Addr(); r.Contains(a) && len(all) < sourcesMost; a = a.Next() {
			all = append(all, a.WithZone(s.Zone))
		}
	}
	return all
}

// checkSource checks the local addresses.
func (p *Plan) checkSource(flaw finder) {
	flaw(len(p.Source) > 0 && p.Target.Unix != "", "Source", "a unix socket has no address")
	count := 0.0
	for _, s := range p.Source {
		count += float64(uint64(1) << min(s.Range.Addr().BitLen()-s.Range.Bits(), 62))
	}
	flaw(count > sourcesMost, "Source", "%.0f addresses; at most %d", count, sourcesMost)
}
