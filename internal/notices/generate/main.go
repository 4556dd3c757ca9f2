// Command generate writes to stdout the licences of everything in dyno's binary: of dyno,
// of Go, of every module that it is built from on any platform, and of the packages that
// its page is made from. It is an error if one has none.
//
//	go run ./internal/notices/generate > internal/notices/dist/notices.txt
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

const (
	lockFile = "internal/view/page/web/package-lock.json"
	packages = "internal/view/page/web"
)

func main() {
	w := bufio.NewWriter(os.Stdout)
	if err := errors.Join(writeNotices(w), w.Flush()); err != nil {
		fmt.Fprintln(os.Stderr, "notices:", err)
		os.Exit(1)
	}
}

// A work is something of others' in the binary.
type work struct {
	name    string
	folders []string // in which its licences are looked for
}

// writeNotices works in the repository's root.
func writeNotices(w io.Writer) error {
	modules, err := listModules()
	if err != nil {
		return err
	}
	page, err := listBundled()
	if err != nil {
		return err
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("asking where Go is: %w", err)
	}
	own := []work{{"dyno", []string{"."}},
		{"Go " + runtime.Version(), []string{strings.TrimSpace(string(root))}}}
	for _, of := range slices.Concat(own, modules, page) {
		if err := of.writeLicences(w); err != nil {
			return err
		}
	}
	return nil
}

// listModules are those that dyno is built from, on any of the systems it runs on.
func listModules() ([]work, error) {
	all := map[string]work{}
	for _, system := range []string{"linux", "darwin", "windows"} {
		c := exec.Command("go", "list", "-deps", "-json=Dir,Module", "./cmd/dyno")
		c.Env = append(c.Environ(), "GOOS="+system, "CGO_ENABLED=0")
		c.Stderr = os.Stderr
		out, err := c.Output()
		if err != nil {
			return nil, fmt.Errorf("listing what dyno is built from: %w", err)
		}
		for d := json.NewDecoder(bytes.NewReader(out)); ; {
			var p struct {
				Dir    string
				Module *struct {
					Path, Version, Dir string
					Main               bool
				}
			}
			if err := d.Decode(&p); err == io.EOF {
				break
			} else if err != nil {
				return nil, fmt.Errorf("listing what dyno is built from: %w", err)
			}
			if p.Module == nil || p.Module.Main {
				continue
			}
			name := p.Module.Path + " " + p.Module.Version
			of := all[name]
			of.name = name
			of.addFolders(p.Dir, p.Module.Dir)
			all[name] = of
		}
	}
	return sortedWorks(all), nil
}

// addFolders adds a folder and those above it up to root: parts of a module may have a licence
// of their own.
func (of *work) addFolders(dir, root string) {
	for {
		if !slices.Contains(of.folders, dir) {
			of.folders = append(of.folders, dir)
		}
		if dir == root || len(dir) <= len(root) {
			return
		}
		dir = filepath.Dir(dir)
	}
}

// listBundled are the packages that the page is made from, those only its build uses apart.
func listBundled() ([]work, error) {
	b, err := os.ReadFile(lockFile)
	if err != nil {
		return nil, err
	}
	var lock struct {
		Packages map[string]struct {
			Version string
			Dev     bool
		}
	}
	if err := json.Unmarshal(b, &lock); err != nil {
		return nil, fmt.Errorf("%s: %w", lockFile, err)
	}
	all := map[string]work{}
	for path, p := range lock.Packages {
		name, is := strings.CutPrefix(path, "node_modules/")
		if is && !p.Dev {
			dir := filepath.Join(packages, filepath.FromSlash(path))
			all[path] = work{name + " " + p.Version, []string{dir}}
		}
	}
	return sortedWorks(all), nil
}

func sortedWorks(all map[string]work) []work {
	return slices.SortedFunc(maps.Values(all), func(a, b work) int {
		return strings.Compare(a.name, b.name)
	})
}

// writeLicences writes the licences of a work, of which there must be one.
func (of work) writeLicences(w io.Writer) error {
	slices.Sort(of.folders)
	var texts []string
	for _, dir := range of.folders {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return fmt.Errorf("%s: %w; is it installed? (go mod download, npm --prefix %s ci)", of.name,
				err, packages)
		}
		for _, e := range entries {
			if !isLicence(e.Name()) || !e.Type().IsRegular() {
				continue
			}
			b, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				return err
			}
			texts = append(texts, strings.Trim(strings.ReplaceAll(string(b), "\r\n", "\n"), "\n"))
		}
	}
	if len(texts) == 0 {
		return fmt.Errorf("%s has no licence in %s", of.name, strings.Join(of.folders, ", "))
	}
	_, err := fmt.Fprintf(w, "%s\n%s\n\n%s\n\n\n", of.name, strings.Repeat("=", len(of.name)),
		strings.Join(texts, "\n\n"))
	return err
}

// isLicence reports whether a file of that name is one, or says what must go with it.
func isLicence(name string) bool {
	name = strings.ToLower(name)
	if ext := filepath.Ext(name); ext == ".go" || ext == ".js" || ext == ".ts" {
		return false
	}
	for _, begin := range []string{"licence", "license", "copying", "notice", "patents", "unlicense"} {
		if strings.HasPrefix(name, begin) {
			return true
		}
	}
	return false
}
