package hub

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"path/filepath"
	"time"

	"dyno/internal/fleet/bus"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"
)

// A key is a NATS key pair.
type key struct {
	pair         nkeys.KeyPair
	public, seed string
}

func generateKey(prefix nkeys.PrefixByte) (key, error) {
	pair, err := nkeys.CreatePair(prefix)
	if err != nil {
		return key{}, err
	}
	seed, err := pair.Seed()
	if err != nil {
		return key{}, err
	}
	return keyFromSeed(string(seed))
}

func keyFromSeed(seed string) (key, error) {
	pair, err := nkeys.FromSeed([]byte(seed))
	if err != nil {
		return key{}, err
	}
	public, err := pair.PublicKey()
	return key{pair, public, seed}, err
}

const (
	operator = nkeys.PrefixByteOperator
	account  = nkeys.PrefixByteAccount
	user     = nkeys.PrefixByteUser
)

// keys are all keys that a hub signs with.
type keys struct {
	operator    key // signs the accounts
	fleet       key // the account of the fleet; signs its users
	system      key // the account of the server
	controller  key // the user of the controller
	certificate tls.Certificate
}

// A keysFile is the content of the keys' file.
type keysFile struct {
	Operator    string `json:"operator"`
	Fleet       string `json:"fleet"`
	System      string `json:"system"`
	Controller  string `json:"controller"`
	Certificate string `json:"certificate"` // PEM
	Private     string `json:"private"`     // of the certificate, PEM
}

// openKeys reads the keys of a folder, or makes them.
func openKeys(folder string) (*keys, error) {
	path := filepath.Join(folder, "keys.json")
	var k keysFile
	err := bus.ReadJSON(path, &k)
	if errors.Is(err, fs.ErrNotExist) {
		if k, err = generateKeys(time.Now()); err == nil {
			err = bus.WriteJSON(path, k)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("the fleet's keys: %w", err)
	}
	all, err := k.parseKeys()
	if err != nil {
		return nil, fmt.Errorf("the fleet's keys in %s: %w", path, err)
	}
	return all, nil
}

func (k keysFile) parseKeys() (*keys, error) {
	var all keys
	var errs []error
	for _, x := range []struct {
		to   *key
		seed string
	}{{&all.operator, k.Operator}, {&all.fleet, k.Fleet}, {&all.system, k.System},
		{&all.controller, k.Controller}} {
		key, err := keyFromSeed(x.seed)
		*x.to = key
		errs = append(errs, err)
	}
	pair, err := tls.X509KeyPair([]byte(k.Certificate), []byte(k.Private))
	all.certificate = pair
	return &all, errors.Join(append(errs, err)...)
}

func generateKeys(now time.Time) (k keysFile, err error) {
	for _, x := range []struct {
		to     *string
		prefix nkeys.PrefixByte
	}{{&k.Operator, operator}, {&k.Fleet, account}, {&k.System, account}, {&k.Controller, user}} {
		key, err := generateKey(x.prefix)
		if err != nil {
			return k, err
		}
		*x.to = key.seed
	}
	k.Certificate, k.Private, err = generateCertificate(now)
	return k, err
}

// certificateLife is how long the hub's certificate is valid. Agents check its SHA-256 and no
// dates, because their clocks may be wrong.
const certificateLife = 10 * 365 * 24 * time.Hour

// generateCertificate makes a self-signed certificate.
func generateCertificate(now time.Time) (certificate, private string, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", "", err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return "", "", err
	}
	template := x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "dyno fleet"}, DNSNames: []string{"dyno"},
		NotBefore: now.Add(-24 * time.Hour), NotAfter: now.Add(certificateLife),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
	if err != nil {
		return "", "", err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return "", "", err
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})), nil
}

func (k *keys) operatorClaims() *jwt.OperatorClaims {
	c := jwt.NewOperatorClaims(k.operator.public)
	c.Name, c.SystemAccount = "dyno", k.system.public
	return c
}
