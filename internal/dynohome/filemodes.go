package dynohome

import (
	"io/fs"
	"os"
	"regexp"
	"runtime"
	"slices"

	"dyno/internal/lazyregexp"
)

// Names of what dyno writes into a home, and those among them that no other program uses.
var (
	made = lazyregexp.New(`^(results|experiments|data|changes|fleet|agents|serve|` +
		`index\.sqlite(-wal|-shm)?|redact\.key|calibration-[0-9a-z]+\.json|` +
		`\.(import-|calibration-|redact\.key).*)$`)
	sure = lazyregexp.New(`^(index\.sqlite(-wal|-shm)?|redact\.key|calibration-[0-9a-z]+\.json|` +
		`[0-9]{8}-[0-9]{6}-[0-9a-f]{4}\..+|[0-9a-f]{64}\.jsonl)$`)
)

// within has what dyno makes in folders of those names. One that has that and nothing else is
// dyno's own, whatever lies beside it; but serve, whose files have names that others give too, only
// in a home that has what nobody but dyno makes. Agents' files have no names of their own, and were
// never open to others.
var within = map[string]func() *regexp.Regexp{
	"results": lazyregexp.New(`^\.?[0-9]{8}-[0-9]{6}-[0-9a-f]{4}\..+$`),
	"data":    lazyregexp.New(`^sha256$`),
	"sha256":  lazyregexp.New(`^(\.lock|\.?[0-9a-f]{64}\.jsonl(\.tmp)?)$`),
	"changes": lazyregexp.New(`^\.?[0-9]{8}-[0-9]{6}-[0-9a-f]{4}-[a-z0-9._]+\.json(\.tmp)?$`),
	"fleet": lazyregexp.New(`^(lock|audit\.jsonl|\.new-[0-9]+|` +
		`\.?(plan\.nk|(keys|state|controller)\.json)(\.[0-9]+)?)$`),
	"serve": lazyregexp.New(`^(\.[0-9]+\.)?[0-9]+$`),
	Experiments: lazyregexp.New(`^(.+-[0-9]{8}-[0-9]{6}-[0-9a-f]{5}|` +
		`\.(import-[0-9]+|removing-.+))$`),
}

// Experiments is the folder in the home with a folder for each experiment, which keeps the mode
// that the user gave it.
const Experiments = "experiments"

// Tighten makes private what dyno wrote into home, if an older version or another umask let other
// users read it. If the home contains only dyno's files, the home itself becomes private. Otherwise
// the home stays as it is, and only dyno's files become private, and folders that are certainly
// dyno's with all their contents. Folders of experiments keep their mode. Tighten leaves alone what
// belongs to another user, and links, even if they are created meanwhile.
func Tighten(home string) {
	info, err := os.Lstat(home)
	if err != nil || runtime.GOOS == "windows" {
		return
	}
	root, err := openSeen(func() (*os.Root, error) { return os.OpenRoot(home) }, info)
	if err != nil {
		return
	}
	defer root.Close()
	names := namesIn(root)
	other := func(name string) bool { return !made().MatchString(name) }
	ours := isDynoHome(root, names)
	whole := ours && !slices.ContainsFunc(names, other)
	if whole && isShared(info) {
		root.Chmod(".", 0o700) // fails if it belongs to another user
	}
	for _, name := range names {
		which := func(string) bool { return true }
		switch own := whole || (ours || name != "serve") && isOwn(root, name); {
		case own && name == Experiments:
			which = func(below string) bool { return below == Experiments }
		case own:
		case name == "results", name == "data", sure().MatchString(name):
			which = sure().MatchString
		default:
			continue
		}
		tightenEntry(root, name, which)
	}
}

// openSeen opens the folder that info describes. It fails if something else has taken its place.
func openSeen(open func() (*os.Root, error), info fs.FileInfo) (*os.Root, error) {
	if !info.IsDir() {
		return nil, fs.ErrInvalid
	}
	root, err := open()
	if err != nil {
		return nil, err
	}
	if opened, err := root.Stat("."); err != nil || !os.SameFile(info, opened) {
		root.Close()
		return nil, fs.ErrInvalid
	}
	return root, nil
}

// openIn opens a folder within another. Anything but a folder is an error.
func openIn(parent *os.Root, name string) (*os.Root, error) {
	info, err := parent.Lstat(name)
	if err != nil {
		return nil, err
	}
	return openSeen(func() (*os.Root, error) { return parent.OpenRoot(name) }, info)
}

// namesIn are the names in a folder; none if it cannot be read. Every start of dyno reads those of
// all results, and learns no more of each than its name.
func namesIn(root *os.Root) []string {
	folder, err := root.Open(".")
	if err != nil {
		return nil
	}
	defer folder.Close()
	names, _ := folder.Readdirnames(-1)
	return names
}

// isDynoHome reports whether a home contains anything that only dyno writes.
func isDynoHome(home *os.Root, names []string) bool {
	if results, err := openIn(home, "results"); err == nil { // it need not exist
		defer results.Close()
		names = append(namesIn(results), names...)
	}
	return slices.ContainsFunc(names, sure().MatchString)
}

// isOwn reports whether there is a folder of that name that contains only what dyno writes.
func isOwn(parent *os.Root, name string) bool {
	pattern := within[name]
	if pattern == nil {
		return false
	}
	folder, err := openIn(parent, name)
	if err != nil {
		return false
	}
	defer folder.Close()
	names := namesIn(folder)
	return len(names) > 0 && !slices.ContainsFunc(names, func(in string) bool {
		return !pattern().MatchString(in) || within[in] != nil && !isOwn(folder, in)
	})
}

// isShared reports whether users other than the owner have any permission.
func isShared(info fs.FileInfo) bool {
	return (info.IsDir() || info.Mode().IsRegular()) && info.Mode().Perm()&0o077 != 0
}

// tightenEntry makes a file private, or a folder with all that lies below it. It does not look into
// a folder that is private already.
func tightenEntry(in *os.Root, name string, which func(name string) bool) {
	info, err := in.Lstat(name)
	if err != nil || !isShared(info) {
		return
	}
	if !info.IsDir() {
		if which(name) {
			in.Chmod(name, info.Mode().Perm()&0o700)
		}
		return
	}
	folder, err := openSeen(func() (*os.Root, error) { return in.OpenRoot(name) }, info)
	if err != nil {
		return
	}
	defer folder.Close()
	if which(name) {
		folder.Chmod(".", info.Mode().Perm()&0o700)
	}
	for _, below := range namesIn(folder) {
		tightenEntry(folder, below, which)
	}
}
