"""Does what each line on standard input asks for, and writes what comes of it as a line of JSON."""

import base64
import datetime
import json
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from malipo import Malipo, MalipoError, WebhookVerificationError, verify_webhook  # noqa: E402

answers = []
client = None


def perform(what, *rest):
    global client
    if what == "client":
        base_url, app_key, app_secret, options = rest
        client = Malipo(base_url, app_key, app_secret, **options, on_answer=note)
        return None
    if what == "answers":
        return answers
    if what == "get":
        return client.get(rest[0], **rest[1])
    if what == "get with times":
        times = {name: datetime.datetime.fromisoformat(text) for name, text in rest[1].items()}
        return client.get(rest[0], **times)
    if what == "post":
        return client.post(rest[0], rest[1], idempotency_key=rest[2])
    if what == "delete":
        return client.delete(rest[0])
    if what == "paginate":
        return list(client.paginate(rest[0], **rest[1]))
    return verify_webhook(base64.b64decode(rest[0]), rest[1], rest[2])


def note(*answer):
    answers.append(list(answer))


for line in sys.stdin:
    try:
        outcome = {"result": perform(*json.loads(line))}
    except MalipoError as error:
        outcome = {"error": {"name": "MalipoError", "message": str(error), **vars(error)}}
    except (WebhookVerificationError, ValueError) as error:
        outcome = {"error": {"name": type(error).__name__, "message": str(error)}}
    print(json.dumps(outcome), flush=True)
