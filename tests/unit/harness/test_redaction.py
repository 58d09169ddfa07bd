"""What is taken out of evidence: every secret that can be told from the rest, and nothing else."""

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lab.harness.evidence.named import REMOVED
from lab.harness.evidence.redaction import redacted_json, redacted_text

WEB_TOKEN = "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJrdWJlcm5ldGVzIn0.c2lnbmF0dXJl"  # noqa: S105 - no one's
KEY = "-----BEGIN {0}PRIVATE KEY{1}-----\nMIIEabc\nabc==\n-----END {0}PRIVATE KEY{1}-----"
ISSUED = (
    *(f"gh{kind}_{'a1' * 18}" for kind in "oprsu"),
    f"github_pat_{'a1_' * 12}",
    *(
        f"gl{kind}-{'a1-' * 7}"
        for kind in ("agent", "cbt", "dt", "ft", "imt", "oas", "pat", "ptt", "rt", "soat")
    ),
    f"nvapi-{'a1_' * 20}",
    f"hf_{'aB' * 17}",
    *(f"xox{kind}-1234567890-abcdefghij" for kind in "bp"),
    f"xapp-1-{'A1' * 8}",
    *(f"{kind}ABCDEFGHIJKLMNOP" for kind in ("AKIA", "ASIA")),
    f"LTAI{'5t' * 10}",
    f"AIza{'a' * 35}",
    f"GOCSPX-{'a1_' * 9}",
    f"ya29.{'a1-' * 20}",
    *(f"sk-{kind}-{'a1_' * 8}" for kind in ("admin", "ant", "proj", "svcacct")),
    *(f"{kind}_{'a1' * 12}" for kind in ("rk_live", "rk_test", "sk_live", "sk_test")),
    *(f"{kind}.{'a1_' * 9}" for kind in ("hvb", "hvs")),
    f"pypi-{'a1_' * 20}",
    f"sk-{'a1' * 24}",
    *(f"dckr_{kind}_{'a1-' * 9}" for kind in ("oat", "pat")),
    f"npm_{'a1' * 18}",
    WEB_TOKEN,
    "LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQo=",
)
#: What is written, and what is left of it: ¤ is for what was removed.
TEXTS = (
    ("--password=x9 -v", "--password=¤ -v"),
    ("app --token x9 y", "app --token ¤ y"),
    ("app --token 'x 9' y", "app --token '¤' y"),
    ("['app', '--token', 'x9', '-v']", "['app', '--token', '¤', '-v']"),
    ("https://user:x9@host/p", "https://user:¤@host/p"),
    ("postgres://u:x/9@host/p and redis://:x@9@host", "postgres://u:¤@host/p and redis://:¤@host"),
    ("https://0123456789abcdef@sentry.example.com/1", "https://¤@sentry.example.com/1"),
    (
        f"https://hooks.slack.com/services/T0A/B0A/{'a1' * 12} said no",
        "https://hooks.slack.com/services/¤ said no",
    ),
    ("Authorization: Basic dXNlcjpwdw== ok", "Authorization: Basic ¤ ok"),
    ("-H 'Authorization: Bearer x9' -v", "-H 'Authorization: Bearer ¤' -v"),
    ('authorization: Digest username="u", response="x9"\nb', "authorization: Digest ¤\nb"),
    ("map[Authorization:[Bearer x9] Accept:[a]]", "map[Authorization:[¤] Accept:[a]]"),
    ("Bearer abcdefghijklmnop0123 ok", "Bearer ¤ ok"),
    ("Cookie: a=b; c=d\r\nHost: h", "Cookie: ¤\r\nHost: h"),
    ('curl -H "Set-Cookie: a=b; c=d" https://h', 'curl -H "Set-Cookie: ¤" https://h'),
    ("X-Api-Key: x9", "X-Api-Key: ¤"),
    ("PGPASSWORD=x9 psql", "PGPASSWORD=¤ psql"),
    ("export MYSQL_PWD='x 9'; mysql", "export MYSQL_PWD='¤'; mysql"),
    ("API_KEY=x9 SECRET_KEY=x8", "API_KEY=¤ SECRET_KEY=¤"),
    ("Server=s;Uid=sa;Pwd=x9;Database=d", "Server=s;Uid=sa;Pwd=¤;Database=d"),
    ("GET /p?token=x9&page=1 200", "GET /p?token=¤&page=1 200"),
    ('level=info password="x 9" user=u', 'level=info password="¤" user=u'),
    ("login with token: x9.", "login with token: ¤."),
    ("password: swordfish\nuser: u", "password: ¤\nuser: u"),
    ("  password: |\n    x 9\n    x8\n  user: u", "  password: |\n    ¤\n  user: u"),
    ("password=12345", "password=¤"),
    ('{"tokens": ["x9", "x8"], "n": 1}', '{"tokens": [¤], "n": 1}'),
    (r"{'password': 'x\'9', 'n': 1}", "{'password': '¤', 'n': 1}"),
    (r"said {\"password\":\"x \\\"9\",\"n\":1}", r"said {\"password\":\"¤\",\"n\":1}"),
    (r"line\npassword=x9", r"line\npassword=¤"),
)
KEPT_TEXTS = (
    "secretName: db-password",
    "secretRef: {name: x}",
    "imagePullSecrets: [regcred]",
    'MountVolume.SetUp failed for volume "token" : secret "db-password" not found',
    "failed to fetch token: connection refused",
    "failed to fetch token: x509: certificate has expired",
    "couldn't find key password in Secret ns/db",
    "token bucket, bearer of news",
    "use --token to log in, or --password",
    "tokenExpirationSeconds: 3607, path: token",
    "automountServiceAccountToken: false",
    "ServiceAccountToken:&ServiceAccountTokenProjection{Audience:,Path:token,}",
    'FLAG: --authentication-token-webhook="true"',
    'FLAG: --tls-private-key-file=""',
    "private key: /etc/kubernetes/pki/apiserver.key",
    "key: nvidia.com/gpu, topologyKey: kubernetes.io/hostname",
    "TAINT_KEY=nvidia.com/gpu",
    "nvidia.com/gpu: 1",
    "GPU-12345678-1234-1234-1234-123456789abc Healthy",
    "prompt tokens: 512, max_tokens=4096, tokens/s: 35.2, time per token: 12.5ms",
    "pad_token: <pad>, tokenizer=auto",
    "image: ghcr.io/x/hf-token:release-a1 and hf-token:v1.2 from docker://ubuntu:22.04@sha256:abc",
    "dial vault-token:8200",
    "http://host:8080/a@b git@github.com:x/y ssh://git@host/x",
    "app --token=$(TOKEN) --password ${PASSWORD}",
    "PWD=/work/x",
    f"certificate-authority-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUQ{'a' * 40}",
    "-----BEGIN CERTIFICATE-----\nMIIEabc\n-----END CERTIFICATE-----",
    "assert token == 'x'",
    "    token = self.client.login(1)\n    token: str",
    "token = os.environ['TOKEN']",
    'curl -H "Authorization: Bearer $(cat /tmp/token)"',
)
VALUES: tuple[tuple[Any, Any], ...] = (
    ({"name": "DB_PASSWORD", "value": "x"}, {"name": "DB_PASSWORD", "value": REMOVED}),
    ({"name": "Authorization", "value": "x"}, {"name": "Authorization", "value": REMOVED}),
    ({"token": "x", "phase": "Running"}, {"token": REMOVED, "phase": "Running"}),
    ({"tokens": ["x", "y"]}, {"tokens": [REMOVED, REMOVED]}),
    ({"metadata": {"managedFields": [1], "name": "p"}}, {"metadata": {"name": "p"}}),
    (
        {"annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}"}},
        {"annotations": {"kubectl.kubernetes.io/last-applied-configuration": REMOVED}},
    ),
    (
        {"args": ["app", "--token", "to", "--password=x 9", "-v"]},
        {"args": ["app", "--token", REMOVED, f"--password={REMOVED}", "-v"]},
    ),
    (
        {"command": ["sh", "-c", "app --token x9", "--token", "--v"]},
        {"command": ["sh", "-c", f"app --token {REMOVED}", "--token", "--v"]},
    ),
    (
        {"message": 'it said "no" to\nBearer abcdefghijklmnop'},
        {"message": f'it said "no" to\nBearer {REMOVED}'},
    ),
    ({"password": "true story"}, {"password": REMOVED}),
)
KEPT_VALUES: tuple[Any, ...] = (
    {"name": "MODE", "value": "x"},
    {"name": "MAX_TOKENS", "value": "4096"},
    {"name": "TOKEN_FILE", "value": "token"},
    {"name": "API_KEY", "value": "$(OTHER)"},
    {"name": "API_KEY", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
    {"imagePullSecrets": [{"name": "regcred"}], "automountServiceAccountToken": False},
    {"secret": {"secretName": "s", "items": [{"key": "password", "path": "pw"}]}},
    {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}, "tokens": 5},
    {"tolerations": [{"key": "secret", "operator": "Equal", "value": "x"}]},
    {"labelSelector": {"matchExpressions": [{"key": "token", "operator": "Exists"}]}},
    {"devices": ["GPU-12345678-1234"], "resources": {"limits": {"nvidia.com/gpu": "1"}}},
    [None, True, 2.5, ""],
)


#: What may end a value, or make one of two, in texts that nobody has thought of.
PIECES = st.sampled_from(
    (
        *" \n\\\"'`:=,;@/&?-[](){}<>|",
        *("token", "password", "--token", "Cookie", "Authorization", "Bearer ", "Digest ", "://"),
        *("x9", "eyJ", REMOVED, "-----BEGIN PRIVATE KEY-----"),
    )
)


def left_of(text: str) -> str:
    """Return what is left of a text, with a sign where something was removed."""
    return redacted_text(text, ()).replace(REMOVED, "¤")


@pytest.mark.parametrize(("text", "left"), TEXTS)
def test_a_secret_in_a_text_is_removed(text: str, left: str) -> None:
    """What is around it stays, so that it can still be read what was done with it."""
    assert left_of(text) == left


@pytest.mark.parametrize("secret", ISSUED)
@pytest.mark.parametrize(
    "around", ["{}", "got {} from it", '{{"a":"{}"}}', r"a\n{}\nb", "x={},y=z"]
)
def test_a_secret_that_can_be_told_by_its_look_is_removed(secret: str, around: str) -> None:
    """Wherever it stands, and whatever its name is."""
    assert left_of(around.format(secret)) == around.format("¤")


@pytest.mark.parametrize("kind", [("", ""), ("RSA ", ""), ("OPENSSH ", ""), ("PGP ", " BLOCK")])
def test_a_private_key_is_removed(kind: tuple[str, str]) -> None:
    """From its first line to its last, and of one that was cut off what there is."""
    key = KEY.format(*kind)
    assert left_of(f"a\n{key}\nb") == "a\n¤\nb"
    assert left_of(json.dumps({"a": key})) == '{"a": "¤"}'
    begun = f"{key.splitlines()[0]}\n{'MIIE' * 16}\nError: cut off"
    assert left_of(begun) == "¤\nError: cut off"


@pytest.mark.parametrize("text", KEPT_TEXTS)
def test_what_only_tells_of_secrets_is_kept(text: str) -> None:
    """It is what somebody needs who looks for what went wrong."""
    assert left_of(text) == text
    assert redacted_json({"message": text}, ()) == {"message": text}


@pytest.mark.parametrize(("found", "left"), VALUES)
def test_a_secret_in_json_is_removed(found: Any, left: Any) -> None:  # noqa: ANN401 - JSON
    """Its name stays; what only machines read goes as well."""
    assert redacted_json(found, ()) == left


@pytest.mark.parametrize("found", KEPT_VALUES)
def test_what_is_no_secret_in_json_is_kept(found: Any) -> None:  # noqa: ANN401 - JSON
    """Where a secret is, what it is called, how long it lasts."""
    assert redacted_json(found, ()) == found


def test_a_known_secret_is_removed_wherever_it_is() -> None:
    """Also in keys; one that is empty is in every text."""
    secrets = ("", "s3cret")
    assert redacted_text("as3cretb", secrets) == f"a{REMOVED}b"
    assert redacted_json({"as3cret": ["s3cret"]}, secrets) == {f"a{REMOVED}": [REMOVED]}


@example("--token Bearer \\")
@given(st.lists(PIECES, max_size=12).map("".join))
def test_what_was_redacted_is_left_as_it_is(text: str) -> None:
    """Evidence that is shown again loses no more."""
    once = redacted_text(text, ())
    assert redacted_text(once, ()) == once


@pytest.mark.parametrize(
    "piece",
    [
        *("a", "a ", "eyJ", "token=", 'token="', "token=[", "a=", "://a:", "://a@", "\\", ",a"),
        *("--token ", "token=\\", "token: a: ", "{token: '", "Cookie: a=", "sk-"),
        "Cookie: (removed) ",
        "-----BEGIN PRIVATE KEY-----",
    ],
)
def test_a_line_of_half_a_megabyte_takes_no_hours(piece: str) -> None:
    """Time goes by the length: no search starts again at every letter."""
    redacted_text(f"token {piece * (500_000 // len(piece))}", ())
