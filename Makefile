# The two commands of the README are `make demo` and `make test`.
GO      ?= go
FUZZ    ?= 60s
FUZZED  ?= .
HURL    ?= hurl
WRK     ?= wrk
SCRIPTS ?= internal/engine/luascript/testdata

.PHONY: compare-hurl compare-wrk build page notices screenshots demo test test-slow test-busy goldens deps lab-deps experiments bench bench-limit pgo fuzz vet vulncheck module clean

PAGE     = internal/view/page/dist/page.js
PACKAGES = internal/view/page/web/node_modules/.package-lock.json
NOTICES  = internal/notices/dist/notices.txt

# As packages are built: no symbols, which only debuggers need, and no C library, so that the program is
# one for all systems. A test holds .goreleaser.yaml to it (TestPackages).
BUILD = CGO_ENABLED=0 $(GO) build -trimpath -ldflags='-s -w'

build: page notices ## ./dyno
	$(BUILD) -o dyno ./cmd/dyno

page: $(PAGE) ## the web page, which dyno embeds; needs Node.js

$(PAGE): $(PACKAGES) $(shell find internal/view/page/web/src internal/view/page/web/*.json internal/view/page/web/*.mjs internal/view/drawing/theme.json)
	npm --prefix internal/view/page/web run build

$(PACKAGES): internal/view/page/web/package-lock.json
	@command -v npm >/dev/null || e2e/install.sh node npm
	npm --prefix internal/view/page/web ci
	@touch $@

notices: $(NOTICES) ## the licences of all that is in the binary, which dyno embeds

$(NOTICES): $(PACKAGES) go.mod go.sum $(wildcard internal/notices/generate/*.go)
	$(GO) run ./internal/notices/generate >$@.tmp && mv $@.tmp $@

screenshots: page ## internal/view/page/web/screenshots/*.png: every view, light and dark, at three widths
	DYNO_SCREENSHOTS="$(CURDIR)/internal/view/page/web/screenshots" \
	$(GO) test -run Screenshots -bench Screenshots -benchtime 1x ./internal/view/page ./internal/view/serve

demo: build ## load the built-in server for five seconds and print the report
	@bench/demo.sh ./dyno

deps: lab-deps ## what the tests need besides Go: servers and peers, from Debian's packages
	@e2e/install.sh

lab-deps: ## the servers of the experiments that ship with dyno; starts none
	@internal/lab/experiment/deps.sh

# Many tests wait for servers, so twice as many tests of a package, and twice as many packages, run at
# once as there are CPUs.
# The race detector has every program that it is in wait for a second before it exits, unless it
# is told otherwise.
AT_ONCE = $(shell expr 2 '*' $$(getconf _NPROCESSORS_ONLN))

# What is tested with the race detector: packages that start goroutines, lock or share, and those whose
# code the threads of a load run at once. In the others it has nothing to find, and takes most of their
# time (a test holds them to that); e2e tests a program that it builds without it. Those that take
# longest begin first, so that at the end no CPU waits for one of them. The goroutines of STARTED run in
# the programs that its tests start. With DYNO_RACE=1, which CI sets, programs and tests have the
# detector. Otherwise neither has it: in the tests alone it would find nothing of dyno's.
STARTED = ./internal/cli
RACED = ./internal/lab/run ./internal/engine/load ./internal/fleet ./internal/view/serve . \
	./internal/fairness ./internal/target ./internal/engine/ring ./internal/fleet/hub ./internal/engine/luavm ./bench \
	./bench/hurl ./bench/streams/peers ./bench/streams/served ./bench/wrk ./dynotest ./e2e/attack/agent ./internal/dynohome ./internal/engine/auth ./internal/engine/dial \
	./internal/engine/data ./internal/engine/h3 ./internal/engine/jsonpath ./internal/engine/loadplan \
	./internal/engine/loadresult ./internal/engine/luascript ./internal/engine/machine ./internal/engine/metric \
	./internal/engine/onestep ./internal/engine/proto/tls ./internal/engine/reqlog ./internal/engine/scenario \
	./internal/engine/session ./internal/engine/transport ./internal/engine/uring ./internal/fleet/bus \
	./internal/fleet/watch ./internal/observe/probe ./internal/observe/profile ./internal/redact ./internal/remote \
	./internal/server ./internal/setting ./internal/view/drawing ./internal/view/live
RACED_NOW = $(if $(DYNO_RACE),$(STARTED)) $(RACED)
FIRST = $(if $(DYNO_RACE),,$(STARTED)) ./e2e ./internal/view/page ./e2e/attack ./internal/store

# The dyno that tests start as a user would is linked once, for all packages, where every user may
# start it. Its path is a new one each time, so that no test is skipped that has passed with another.
# It is not guided by a profile, so that what it is made of is what test-alone needs too, and is compiled
# once. With -trimpath another clone of the same code need not compile it again.
# go vet is a step of its own, and nobody debugs test binaries, which need no tables of symbols.
TEST = $(GO) test -trimpath -parallel $(AT_ONCE) -timeout 60m -vet=off -ldflags='-s -w' $(TESTFLAGS)

test: deps page notices ## the whole suite; packages that start goroutines or share (RACED) with the race detector
	@tested=$$(mktemp -d) && trap 'rm -rf "$$tested"' EXIT && chmod 755 "$$tested" && \
	  $(BUILD) -pgo=off -o "$$tested/dyno" ./cmd/dyno && \
	  DYNO_E2E_BINARY="$$tested/dyno" $(MAKE) --no-print-directory -j 3 test-web test-race test-alone

.PHONY: test-web test-race test-alone
test-web:
	npm --prefix internal/view/page/web test

# The detector is left out of what took much of its time: SQLite, translated from C, has its own locks,
# and the others work on what one goroutine has: histograms, parsers, codecs, ciphers, statistics, and
# Lua. It has to stay in what uses sync.Map or sync.OnceValue, such as encoding/json and
# text/template: the linker may take its copy of their code for the whole program, and then the
# detector reports what is no race. Of other generic code it may take a copy without the detector, which
# then sees less.
UNWATCHED = $(patsubst %,-gcflags=%=-race=false,modernc.org/... github.com/HdrHistogram/... github.com/andybalholm/... \
	github.com/yuin/gopher-lua/... go.yaml.in/... go/... compress/... encoding/base64 regexp/... \
	crypto/ecdh crypto/internal/fips140/edwards25519/... crypto/internal/fips140/mlkem \
	crypto/internal/fips140/sha256 dyno/internal/stats)

# With the detector uses of unsafe.Pointer are checked, too. Those of Go's own packages, such as reflect,
# take 8 % of the time, and are not ours.
test-race:
	GORACE="atexit_sleep_ms=20 $$GORACE" $(TEST) -p $(AT_ONCE) -race -gcflags=std=-d=checkptr=0 $(UNWATCHED) $(RACED_NOW)

test-alone:
	CGO_ENABLED=0 $(TEST) $(FIRST) $$($(GO) list ./... | grep -vxF "$$($(GO) list $(RACED_NOW) $(FIRST))")

BUSY ?= ./internal/fleet ./internal/view/serve ./internal/engine/load ./e2e ./internal/cli

# Packages with goldens are those whose tests have the flag -update.
GOLDEN = $(sort $(dir $(shell grep -rl --include='*_test.go' 'flag.Bool."update"' internal)))

goldens: page notices ## the files that hold what reports and messages say; read the difference
	$(GO) test -count 1 $(addprefix ./,$(GOLDEN)) -update
	$(GO) test -count 1 $(addprefix ./,$(GOLDEN))

test-busy: page notices ## BUSY, packages, on a machine whose CPUs are taken away now and then
	$(GO) run ./bench/busy $(GO) test -race -count 1 -timeout 60m $(TESTFLAGS) $(BUSY)

test-slow: build lab-deps ## a soak, find against a sweep, servers that fork, every experiment with --quick
	DYNO_TRIALS=100 $(GO) test -count 1 -timeout 60m -run TestNothingIsLeft ./e2e
	DYNO_TRIALS=100 $(GO) test -count 1 -timeout 60m -run TestNeighbour ./e2e/attack
	$(GO) test -tags slow -count 1 -timeout 30m -run 'TestSoak|TestGigabyte|TestHundredThousand|TestIOUringDisabled|TestFleetFails|TestTuning' ./e2e
	DYNO_SOAK=10m $(GO) test -count 1 -timeout 30m -run TestDeaths ./e2e
	$(GO) run ./bench/experiments -dyno ./dyno $(ARGS)
	$(GO) run ./bench/search -dyno ./dyno

experiments: build lab-deps ## every experiment with --quick, and the tables of docs/experiments.md
	$(GO) run ./bench/experiments -dyno ./dyno $(ARGS)

# The newest goreleaser that builds with Go 1.26, and what it calls for the SBOM. TOOLS is a folder of them.
TOOLS      ?= $(CURDIR)/release/tools
GORELEASER ?= github.com/goreleaser/goreleaser/v2@v2.14.0
CYCLONEDX  ?= github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0
COMMITTED   = $$(git log -1 --format=%ct)

.PHONY: packages packages-check packages-test sign image action-try
packages: page notices $(TOOLS)/goreleaser $(TOOLS)/cyclonedx-gomod ## dist/: archives, deb, rpm, apk, image, SBOM, checksums
	PATH="$(TOOLS):$$PATH" SOURCE_DATE_EPOCH=$(COMMITTED) COMMIT_DATE=$$(git log -1 --format=%cI) \
	  goreleaser release --snapshot --clean
	@$(MAKE) --no-print-directory image
	release/sums.sh

sign: ## dist/SHA256SUMS.sig, by an SSH key that is not in the repository: make sign KEY=FILE
	release/sign.sh "$(KEY)"

packages-check: $(TOOLS)/goreleaser ## is .goreleaser.yaml valid?
	$(TOOLS)/goreleaser check

action-try: build ## the Action's script on a sample repository: 5 % more CPU time, 5 % less, and the same
	$(GO) run ./bench/action -dyno ./dyno $(ARGS)

image: ## dist/image, an OCI layout from scratch, of the binaries in dist
	rm -rf dist/image
	$(GO) run ./release/image -o dist/image -time $(COMMITTED) -version "$$(git rev-parse --short HEAD)" \
	  amd64=$$(echo dist/dyno_linux_amd64*/dyno) arm64=$$(echo dist/dyno_linux_arm64*/dyno)

packages-test: packages ## two builds are equal; the deb is installed, run and removed; the binary runs in an empty root
	release/test.sh

$(TOOLS)/goreleaser:
	GOBIN=$(TOOLS) $(GO) install $(GORELEASER)

$(TOOLS)/cyclonedx-gomod:
	GOBIN=$(TOOLS) $(GO) install $(CYCLONEDX)

fuzz: ## every fuzz target below FUZZED for FUZZ each
	@bench/fuzz.sh $(FUZZ) $(FUZZED)

vet: ## all platforms
	$(GO) vet ./...
	GOOS=darwin $(GO) vet ./...
	GOOS=windows $(GO) vet ./...

vulncheck: page notices ## known vulnerabilities of what dyno calls, and of the page's packages; VULNDB is a mirror of the database
	@bench/vulncheck.sh

bench: build ## dyno beside its peers; see docs/benchmarks.md
	$(GO) run ./bench -dyno ./dyno $(ARGS)

compare-hurl: build ## the files of bench/hurl with the real hurl (HURL=) and with dyno: same requests, same verdicts
	$(GO) run ./bench/hurl -dyno ./dyno -hurl $(HURL) $(ARGS)

compare-wrk: build ## Lua scripts (SCRIPTS=, a folder) with the real wrk (WRK=) and with dyno: same requests
	$(GO) run ./bench/wrk -dyno ./dyno -wrk $(WRK) -scripts $(SCRIPTS) $(ARGS)

bench-limit: build ## dyno beside what the kernel allows: bare generators in C
	$(GO) run ./bench -limit -dyno ./dyno $(ARGS)

pgo: build ## cmd/dyno/default.pgo, by which make build is then guided, and ./dyno-plain without it
	$(GO) build -pgo=off -o dyno-plain ./cmd/dyno
	$(GO) run ./bench/pgo -dyno ./dyno-plain -o cmd/dyno/default.pgo.tmp && mv cmd/dyno/default.pgo.tmp cmd/dyno/default.pgo
	$(BUILD) -o dyno ./cmd/dyno

module: ## give the module the path MODULE, as MODULE=example.org/load/dyno
	@bench/module.sh "$(MODULE)"

clean:
	rm -f dyno dyno.exe dyno-plain
	rm -rf dist release/texts
