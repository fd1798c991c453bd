package mcpauth

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	josejson "github.com/go-jose/go-jose/v4/json"
)

// claims are those of a token, of an introspection response (RFC 7662 section 2.2) or of a DPoP proof. The methods return errors that name the
// member and its type, never its value.
type claims map[string]any

var errJSON = errors.New("not a JSON object")

// parseClaims reads one JSON object: no duplicate members, bounded depth. Errors of the parser quote its input and stay here.
func parseClaims(data []byte) (claims, error) {
	if !shallow(data) {
		return nil, errors.New("nested too deep")
	}
	var c claims
	if err := josejson.Unmarshal(data, &c); err != nil || c == nil {
		return nil, errJSON
	}
	return c, nil
}

// text returns a string member, "" if it is not there.
func (c claims) text(name string) (string, error) {
	switch v := c[name].(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	}
	return "", fmt.Errorf("%s is not a string", name)
}

// list returns the strings of a member that is one or an array of them (RFC 7519 section 4.1.3).
func (c claims) list(name string) ([]string, error) {
	switch v := c[name].(type) {
	case nil:
		return nil, nil
	case string:
		return []string{v}, nil
	case []any:
		out := make([]string, 0, len(v))
		for _, e := range v {
			s, ok := e.(string)
			if !ok {
				return nil, fmt.Errorf("%s has an entry that is not a string", name)
			}
			out = append(out, s)
		}
		return out, nil
	}
	return nil, fmt.Errorf("%s is neither a string nor an array", name)
}

// date returns a NumericDate (RFC 7519 section 2) and whether it is there.
func (c claims) date(name string) (time.Time, bool, error) {
	v, ok := c[name]
	if !ok || v == nil {
		return time.Time{}, false, nil
	}
	f, ok := v.(float64)
	const year9999 = 253402300799 // beyond, time.Time can no longer be written
	if !ok || math.IsNaN(f) || f < 0 || f > year9999 {
		return time.Time{}, false, fmt.Errorf("%s is not a date", name)
	}
	whole, frac := math.Modf(f)
	return time.Unix(int64(whole), int64(frac*1e9)), true, nil
}

// window checks exp, nbf and iat. exp is required if needExpiry.
func (c claims) window(now time.Time, leeway time.Duration, needExpiry bool) (expiry time.Time, err error) {
	exp, hasExp, err := c.date("exp")
	if err != nil {
		return expiry, invalid("%s", err)
	}
	if !hasExp && needExpiry {
		return expiry, invalid("exp is missing")
	}
	for _, name := range [...]string{"nbf", "iat"} {
		t, ok, err := c.date(name)
		if err != nil {
			return expiry, invalid("%s", err)
		}
		if ok && t.After(now.Add(leeway)) {
			return expiry, invalid("%s is in the future", name)
		}
	}
	// RFC 7519 section 4.1.4: not on or after. The leeway is for clocks that differ.
	if hasExp && !now.Before(exp.Add(leeway)) {
		return expiry, ErrExpiredToken
	}
	return exp, nil
}

// principal fills in what the claims say about who.
func (c claims) principal() (*Principal, error) {
	p := &Principal{Claims: c}
	var errs [7]error
	var scope, scp []string
	p.Issuer, errs[0] = c.text("iss")
	p.Subject, errs[1] = c.text("sub")
	p.Audience, errs[2] = c.list("aud")
	scope, errs[3] = c.list("scope")
	scp, errs[4] = c.list("scp")
	for _, name := range [...]string{"client_id", "azp", "cid"} {
		if p.ClientID, errs[5] = c.text(name); p.ClientID != "" || errs[5] != nil {
			break
		}
	}
	errs[6] = p.bind(c["cnf"])
	for _, err := range errs {
		if err != nil {
			return nil, invalid("%s", err)
		}
	}
	for _, entry := range append(scope, scp...) {
		for s := range strings.FieldsSeq(entry) {
			if isScope(s) {
				p.Scopes = append(p.Scopes, s)
			}
		}
	}
	if p.Subject == "" && p.ClientID == "" {
		return nil, invalid("it names neither a subject nor a client")
	}
	return p, nil
}

// bind reads cnf (RFC 7800 section 3.1). Of several confirmations all must hold, and one that is not understood is never ignored alone: the
// token would be good without it.
func (p *Principal) bind(cnf any) error {
	if cnf == nil {
		return nil
	}
	m, ok := cnf.(map[string]any)
	if !ok {
		return errors.New("cnf is not an object")
	}
	for name, dst := range map[string]*string{"jkt": &p.KeyThumbprint, "x5t#S256": &p.CertThumbprint} {
		v, ok := m[name]
		if !ok {
			continue
		}
		s, ok := v.(string)
		if !ok || s == "" {
			return fmt.Errorf("cnf.%s is not a string", name)
		}
		*dst = s
	}
	p.oddCnf = p.KeyThumbprint == "" && p.CertThumbprint == ""
	return nil
}

// segment decodes one part of a compact JWS, or a nonce. Strictly: it has one spelling.
func segment(s string) ([]byte, bool) {
	out, err := base64.RawURLEncoding.Strict().DecodeString(s)
	return out, err == nil && !strings.ContainsAny(s, "\r\n")
}

// split cuts a compact JWS into its parts.
func split(token string) (header, payload, signature string, ok bool) {
	header, rest, ok1 := strings.Cut(token, ".")
	payload, signature, ok2 := strings.Cut(rest, ".")
	return header, payload, signature, ok1 && ok2 && !strings.Contains(signature, ".")
}
