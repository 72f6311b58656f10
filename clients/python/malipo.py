"""A client of the Malipo payments API: one file for Python 3.9 or newer, without other packages.

It gets and renews its token, gives every payment an Idempotency-Key, sends again what is safe to
send again, walks through lists and verifies webhooks. README.md beside it shows how.
"""

import base64
import datetime
import hashlib
import hmac
import http.client
import json
import random
import re
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from email.utils import parsedate_to_datetime

__all__ = ["Malipo", "MalipoError", "WebhookVerificationError", "verify_webhook"]

# The waits before the second, third and fourth try, in seconds. Each is up to a quarter longer.
RETRY_WAITS_S = (0.25, 1, 4)
MAX_JITTER = 0.25
# If the service wants a longer wait, the caller gets the error instead.
MAX_RETRY_AFTER_S = 30
# For how long a call waits at the rate limit, in all its waits together.
MAX_LIMITED_S = 120
# Longer than a reversal waits for its gateway.
TIMEOUT_S = 30
# A token is renewed so long before its end, or at half of its life if that is short.
RENEW_BEFORE_S = 60
# An older webhook may be a copy that somebody has recorded.
TOLERANCE_S = 300

RETRIED_STATUSES = (429, 502, 503, 504)
# The operations that keep a key. To any other one a key would promise too much.
KEYED = re.compile(
    "/(collections/checkouts/initiate|payouts/initiate|reversals/initiate|wallets/transfers"
    "|webhooks/recover|webhooks/deliveries/[^/]+/resend)"
)


class MalipoError(Exception):
    """A call that has failed. `code` is for programs, `detail` for people.

    `status` and `code` belong to the last try; without any answer they are 0 and `no_answer`.
    `may_be_done` tells about all tries: if it is true, one ended without a clear answer. Then
    never send a payment with a new `ref_no`: repeat the call with `idempotency_key`.
    """

    def __init__(self, status, code, detail, field=None, request_id=None):
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.field = field
        self.request_id = request_id
        self.idempotency_key = None
        self.may_be_done = False

    def __str__(self):
        done = "may be done" if self.may_be_done else None
        facts = [self.status or None, self.code, self.field, done, self.request_id]
        return f"{self.detail} ({', '.join(str(fact) for fact in facts if fact)})"


class WebhookVerificationError(Exception):
    """A webhook is not authentic, too old, or no JSON. Answer 401 and do nothing."""


class _Call:
    """What one call sends, in each of its tries, and what is known of it after them."""

    def __init__(self, method, url, body=None, key=None, is_safe=False):
        self.method, self.url, self.body, self.key = method, url, body, key
        parts = urllib.parse.urlsplit(url)
        self.host, self.path = parts.netloc.rpartition("@")[2], parts.path
        # It may be sent again: it only reads, or the service does it once by its key.
        self.is_safe = is_safe
        # A try ended without a clear answer.
        self.may_be_done = False

    def request(self, access):
        headers = {} if self.body is None else {"Content-Type": "application/json"}
        if access:
            headers["Authorization"] = f"Bearer {access}"
        if self.key:
            headers["Idempotency-Key"] = self.key
        data = None if self.body is None else json.dumps(self.body).encode()
        return urllib.request.Request(self.url, data, headers, method=self.method)


class _Answer:
    """The answer to one try. Status 0: none came, and the text says why."""

    def __init__(self, status, headers, text):
        self.status, self.headers, self.text = status, headers, text
        try:
            self.body = json.loads(text)
        except ValueError:
            self.body = None
        fields = self.body if isinstance(self.body, dict) else {}
        self.code, self.detail, self.field = map(fields.get, ("code", "detail", "field"))
        is_json = "json" in headers.get("content-type", "")
        self.is_success = 200 <= status < 300 and (is_json or status == 204)

    @property
    def is_clear(self):
        """Whether the service itself says that it was done, or that it was not."""
        if self.is_success:
            return True
        if self.code is None or self.code == "idempotency_key_running":
            return False
        return self.status < 500 or self.code == "channel_paused"

    @property
    def is_limited(self):
        """The service wants fewer requests, and has done nothing. It does not count as a try."""
        return self.code == "rate_limited"

    @property
    def refuses_token(self):
        """Such a request was not processed: the token is checked first."""
        is_about_token = self.code in ("invalid_token", "token_revoked")
        return self.status == 401 and self.field == "Authorization" and is_about_token

    def pause(self, wait_s):
        """Returns the seconds before the next try, or None if this answer stands."""
        is_running = self.status == 409 and self.code == "idempotency_key_running"
        if self.status != 0 and self.status not in RETRIED_STATUSES and not is_running:
            return None
        asked_s = _seconds(self.headers.get("retry-after"))
        return None if asked_s > MAX_RETRY_AFTER_S else max(asked_s, wait_s)

    def error(self, call):
        if self.status == 0:
            to = f"{call.method} {call.path} from {call.host}"
            return MalipoError(0, "no_answer", f"No answer came to {to}: {self.text}")
        detail = self.detail or f"The answer, with status {self.status}, is not one of the service"
        code = self.code or "unreadable_answer"
        return MalipoError(self.status, code, detail, self.field, self.headers.get("x-request-id"))


class Malipo:
    """Calls the API as an app. Make one, and keep it: it holds the token. Threads can share it."""

    def __init__(self, base_url, app_key, app_secret, *, timeout=TIMEOUT_S, on_answer=None):
        """
        :param base_url: the address of the API, with `/api/v1` at its end
        :param timeout: for how many seconds the service may be silent in one try
        :param on_answer: called after every try with method, path, status and request id
        """
        self._base_url = base_url.rstrip("/")
        self._credentials = {"app_key": app_key, "app_secret": app_secret}
        self._timeout = timeout
        self._on_answer = on_answer or (lambda *facts: None)
        # A payment goes to the address that the caller has named, and to no other.
        self._opener = urllib.request.build_opener(_NoRedirect)
        self._lock = threading.Lock()
        self._access, self._renew_at = None, 0

    def get(self, path, **query):
        """Reads a record, or one page of a list. Raises MalipoError."""
        search = f"?{urllib.parse.urlencode(_texts_of(query))}" if query else ""
        return self._perform(_Call("GET", self._base_url + path + search, is_safe=True))

    def post(self, path, body=None, *, idempotency_key=None):
        """Performs an operation. A payment gets a fresh key unless you give yours. Raises MalipoError."""
        is_keyed = KEYED.fullmatch(path) is not None
        key = (idempotency_key or str(uuid.uuid4())) if is_keyed else None
        return self._perform(_Call("POST", self._base_url + path, body or {}, key, is_keyed))

    def delete(self, path):
        """Ends a log-in. Raises MalipoError."""
        return self._perform(_Call("DELETE", self._base_url + path))

    def paginate(self, path, **query):
        """Walks through all pages of a list, record by record. Nothing is repeated or skipped."""
        while True:
            page = self.get(path, **query)
            yield from page["results"]
            if page["next"] is None:
                return
            query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(page["next"]).query))

    def _perform(self, call):
        try:
            access = self._token()
            answer = self._send(call, access)
            if answer.refuses_token:
                answer = self._send(call, self._token(refused=access))
            if answer.is_success:
                return answer.body
            raise answer.error(call)
        except MalipoError as error:
            error.idempotency_key, error.may_be_done = call.key, call.may_be_done
            raise

    def _token(self, refused=None):
        """Returns an access token, another one than `refused`. Calls at once renew it once."""
        with self._lock:
            if self._access in (None, refused) or time.monotonic() >= self._renew_at:
                url = self._base_url + "/auth/app/token"
                call = _Call("POST", url, self._credentials, is_safe=True)
                answer = self._send(call)
                access = answer.body.get("access") if answer.is_success else None
                life_s = _life_of(access)
                if life_s is None:
                    raise answer.error(call)
                self._access = access
                self._renew_at = time.monotonic() + max(life_s - RENEW_BEFORE_S, life_s / 2)
            return self._access

    def _send(self, call, access=None):
        """Sends a call, and again if that is safe. Returns the answer to the last try."""
        waits, limited_s = iter(RETRY_WAITS_S if call.is_safe else ()), 0
        while True:
            answer = self._try(call, access)
            is_turn = call.is_safe and answer.is_limited
            wait_s = RETRY_WAITS_S[0] if is_turn else next(waits, None)
            if wait_s is None:
                return answer
            pause_s = answer.pause(wait_s * (1 + MAX_JITTER * random.random()))
            if pause_s is None:
                return answer
            if is_turn:
                # Threads that waited equally long would meet again.
                pause_s *= 1 + random.random()
                limited_s += pause_s
                if limited_s > MAX_LIMITED_S:
                    return answer
            time.sleep(pause_s)

    def _try(self, call, access):
        answer = self._exchange(call.request(access))
        if not answer.is_clear:
            call.may_be_done = True
        request_id = answer.headers.get("x-request-id")
        self._on_answer(call.method, call.path, answer.status, request_id)
        return answer

    def _exchange(self, request):
        try:
            try:
                reply = self._opener.open(request, timeout=self._timeout)
            except urllib.error.HTTPError as error:
                reply = error
            with reply:
                headers = {name.lower(): value for name, value in reply.headers.items()}
                return _Answer(reply.status, headers, reply.read())
        # Also an answer that is cut off, or no HTTP.
        except (OSError, http.client.HTTPException) as error:
            return _Answer(0, {}, str(error) or type(error).__name__)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args):
        return None


def _texts_of(query):
    """Writes the parameters of a query. A filter that got lost would make a list of everything."""
    texts = {}
    for name, value in query.items():
        if value is None:
            continue
        if isinstance(value, datetime.datetime):
            if value.tzinfo is None:
                raise ValueError(f"The query parameter {name} needs a time zone")
            value = value.isoformat(timespec="milliseconds")
        elif not isinstance(value, (str, int, float, datetime.date, uuid.UUID)):
            raise ValueError(f"The query parameter {name} must be a text, a number, a date or a time")
        texts[name] = str(value)
    return texts


def _seconds(header):
    """Reads seconds, or a date as a proxy may send it."""
    if header is None:
        return 0
    try:
        return float(header)
    except ValueError:
        pass
    try:
        return parsedate_to_datetime(header).timestamp() - time.time()
    except (TypeError, ValueError):
        return 0


def _life_of(token):
    """Returns for how many seconds a token is good, whatever this machine's clock says."""
    try:
        claims = token.split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))
        return claims["exp"] - claims["iat"]
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        return None


def verify_webhook(raw_body, headers, secrets):
    """Verifies a webhook and returns its event: `id`, `sequence`, `type`, `event` and `data`.

    Both signatures are checked. While secrets overlap, one of them is enough.

    :param raw_body: the bytes that were received, before any parsing
    :param headers: a mapping of the request's headers; names may be in any case
    :param secrets: the app secret or the webhook secret; a list while you replace one
    :raises WebhookVerificationError: if it is not authentic or cannot be read
    """
    known = {name.lower(): value for name, value in headers.items()}

    def read(name):
        if not isinstance(known.get(name), str) or known[name] == "":
            raise WebhookVerificationError(f"The webhook lacks the header {name}")
        return known[name]

    timestamp, event_id = read("x-service-timestamp"), read("webhook-id")
    signatures, own = read("webhook-signature").split(" "), read("x-service-signature")
    if read("webhook-timestamp") != timestamp or not timestamp.isdecimal():
        raise WebhookVerificationError("The webhook has two times")
    if abs(time.time() - int(timestamp)) > TOLERANCE_S:
        raise WebhookVerificationError(f"The webhook is more than {TOLERANCE_S} seconds from now")
    secrets = [secrets] if isinstance(secrets, str) else list(secrets)
    # Anybody can sign with an empty key.
    if not secrets or not all(_standard_key(secret) for secret in secrets):
        raise ValueError("A webhook is verified with a secret that is not empty")
    signed = f"{event_id}.{timestamp}.".encode() + raw_body
    is_standard = any(
        _is_same(signature, "v1," + base64.b64encode(_hmac(_standard_key(secret), signed)).decode())
        for secret in secrets
        for signature in signatures
    )
    signed = f"{timestamp}.".encode() + raw_body
    is_own = any(_is_same(own, _hmac(secret.encode(), signed).hex()) for secret in secrets)
    if not is_standard or not (is_own or len(signatures) > 1):
        raise WebhookVerificationError("The webhook is signed with another secret")
    try:
        body = json.loads(raw_body)
        event = {**body["notification"], "data": body["data"]}
        return {**event, "id": event_id, "sequence": int(read("x-service-event-sequence"))}
    except (KeyError, TypeError, ValueError) as error:
        raise WebhookVerificationError("The webhook cannot be read") from error


def _standard_key(secret):
    """What follows `whsec_` is the base64 of the key of Standard Webhooks."""
    if secret.startswith("whsec_"):
        return base64.b64decode(secret[len("whsec_") :])
    return secret.encode()


def _hmac(key, message):
    return hmac.new(key, message, hashlib.sha256).digest()


def _is_same(given, expected):
    return hmac.compare_digest(given.encode(), expected.encode())
