<?php

declare(strict_types=1);

/*
 * A client of the Malipo payments API: one file for PHP 8.1 or newer with the curl extension.
 *
 * It gets and renews its token, gives every payment an Idempotency-Key, sends again what is safe to
 * send again, walks through lists and verifies webhooks. README.md beside it shows how.
 */

namespace Malipo;

/** The waits before the second, third and fourth try, in ms. Each is up to a quarter longer. */
const RETRY_WAITS_MS = [250, 1_000, 4_000];
const MAX_JITTER = 0.25;
/** If the service wants a longer wait, the caller gets the error instead. */
const MAX_RETRY_AFTER_S = 30;
/** For how long a call waits at the rate limit, in all its waits together. */
const MAX_LIMITED_MS = 120_000;
/** Of one try. Longer than a reversal waits for its gateway. */
const TIMEOUT_S = 30;
/** A token is renewed so long before its end, or at half of its life if that is short. */
const RENEW_BEFORE_S = 60;
/** An older webhook may be a copy that somebody has recorded. */
const TOLERANCE_S = 300;

const RETRIED_STATUSES = [429, 502, 503, 504];
/** The operations that keep a key. To any other one a key would promise too much. */
const KEYED = '{^/(collections/checkouts/initiate|payouts/initiate|reversals/initiate'
    . '|wallets/transfers|webhooks/recover|webhooks/deliveries/[^/]+/resend)$}D';

/**
 * A call that has failed. `apiCode` is for programs, `detail` for people. `status` and `apiCode`
 * belong to the last try; without any answer they are 0 and `no_answer`. `mayBeDone` tells about
 * all tries: if it is true, one ended without a clear answer. Then never send a payment with a new
 * `ref_no`: repeat the call with `idempotencyKey`.
 */
final class MalipoError extends \RuntimeException
{
    public function __construct(
        public readonly int $status,
        public readonly string $apiCode,
        public readonly string $detail,
        public readonly ?string $field = null,
        public readonly ?string $requestId = null,
        public readonly ?string $idempotencyKey = null,
        public readonly bool $mayBeDone = false,
    ) {
        $done = $mayBeDone ? 'may be done' : null;
        $facts = array_filter([$status ?: null, $apiCode, $field, $done, $requestId]);
        parent::__construct("$detail (" . implode(', ', $facts) . ')');
    }
}

/** A webhook is not authentic, too old, or no JSON. Answer 401 and do nothing. */
final class WebhookVerificationError extends \RuntimeException
{
}

/** What one call sends, in each of its tries, and what is known of it after them. */
final class Call
{
    /** A try ended without a clear answer. */
    public bool $mayBeDone = false;

    /** @param bool $isSafe it may be sent again: it only reads, or the service does it once by its key */
    public function __construct(
        public readonly string $method,
        public readonly string $url,
        public readonly ?array $body = null,
        public readonly ?string $key = null,
        public readonly bool $isSafe = false,
    ) {
    }

    public function path(): string
    {
        return (string) parse_url($this->url, PHP_URL_PATH);
    }

    public function host(): string
    {
        ['host' => $host, 'port' => $port] = parse_url($this->url) + ['host' => '', 'port' => null];
        return $port === null ? $host : "$host:$port";
    }
}

/** The answer to one try. Status 0: none came, and the text says why. */
final class Answer
{
    public readonly mixed $body;
    public readonly bool $isSuccess;

    /** @param array<string, string> $headers by their names in small letters */
    public function __construct(
        public readonly int $status,
        public readonly array $headers,
        public readonly string $text,
    ) {
        $this->body = json_decode($text, true);
        $isJson = str_contains($headers['content-type'] ?? '', 'json');
        $this->isSuccess = $status >= 200 && $status < 300 && ($isJson || $status === 204);
    }

    public function said(string $field): ?string
    {
        $value = is_array($this->body) ? ($this->body[$field] ?? null) : null;
        return is_string($value) ? $value : null;
    }

    /** Whether the service itself says that it was done, or that it was not. */
    public function isClear(): bool
    {
        $code = $this->said('code');
        if ($this->isSuccess) {
            return true;
        }
        if ($code === null || $code === 'idempotency_key_running') {
            return false;
        }
        return $this->status < 500 || $code === 'channel_paused';
    }

    /** The service wants fewer requests, and has done nothing. It does not count as a try. */
    public function isLimited(): bool
    {
        return $this->said('code') === 'rate_limited';
    }

    /** Such a request was not processed: the token is checked first. */
    public function refusesToken(): bool
    {
        return $this->status === 401 && $this->said('field') === 'Authorization'
            && in_array($this->said('code'), ['invalid_token', 'token_revoked'], true);
    }

    /** Returns the ms before the next try, or null if this answer stands. */
    public function pause(float $waitMs): ?float
    {
        $isRunning = $this->status === 409 && $this->said('code') === 'idempotency_key_running';
        if ($this->status !== 0 && !in_array($this->status, RETRIED_STATUSES, true) && !$isRunning) {
            return null;
        }
        // Seconds, or a date as a proxy may send it.
        $asked = $this->headers['retry-after'] ?? '0';
        $askedS = is_numeric($asked) ? (float) $asked : (strtotime($asked) ?: 0) - time();
        return $askedS > MAX_RETRY_AFTER_S ? null : max($askedS * 1_000, $waitMs);
    }

    public function error(Call $call): MalipoError
    {
        $detail = $this->status === 0
            ? "No answer came to {$call->method} {$call->path()} from {$call->host()}: {$this->text}"
            : $this->said('detail') ?? "The answer, with status {$this->status}, is not one of the service";
        $code = $this->status === 0 ? 'no_answer' : $this->said('code') ?? 'unreadable_answer';
        return new MalipoError(
            $this->status,
            $code,
            $detail,
            $this->said('field'),
            $this->headers['x-request-id'] ?? null,
            $call->key,
            $call->mayBeDone,
        );
    }
}

/** Calls the API as an app. */
final class Malipo
{
    private readonly string $baseUrl;
    private readonly array $credentials;
    /** @var array{access: string, renew_at: float}|null */
    private ?array $token = null;

    /**
     * @param string $baseUrl the address of the API, with `/api/v1` at its end
     * @param string|null $tokenFile where the token is kept for the next request to your server. A
     *     file that only this program can read, outside of what your server publishes
     * @param float $timeout for how many seconds one try may take
     * @param callable|null $onAnswer called after every try with method, path, status and request id
     */
    public function __construct(
        string $baseUrl,
        string $appKey,
        string $appSecret,
        private readonly ?string $tokenFile = null,
        private readonly float $timeout = TIMEOUT_S,
        private $onAnswer = null,
    ) {
        // `tempnam` would leave the token in the system's folder.
        if ($tokenFile !== null && !is_writable(dirname($tokenFile))) {
            throw new \InvalidArgumentException('Create a folder for tokenFile that this program can write to');
        }
        $this->baseUrl = rtrim($baseUrl, '/');
        $this->credentials = ['app_key' => $appKey, 'app_secret' => $appSecret];
    }

    /** Reads a record, or one page of a list. @throws MalipoError */
    public function get(string $path, array $query = []): array
    {
        $search = $query === [] ? '' : '?' . http_build_query(textsOf($query));
        return $this->perform(new Call('GET', $this->baseUrl . $path . $search, isSafe: true));
    }

    /** Performs an operation. A payment gets a fresh key unless you give yours. @throws MalipoError */
    public function post(string $path, array $body = [], ?string $idempotencyKey = null): ?array
    {
        $isKeyed = preg_match(KEYED, $path) === 1;
        $key = $isKeyed ? $idempotencyKey ?? bin2hex(random_bytes(16)) : null;
        return $this->perform(new Call('POST', $this->baseUrl . $path, $body, $key, $isKeyed));
    }

    /** Ends a log-in. @throws MalipoError */
    public function delete(string $path): ?array
    {
        return $this->perform(new Call('DELETE', $this->baseUrl . $path));
    }

    /** Walks through all pages of a list, record by record. Nothing is repeated or skipped. */
    public function paginate(string $path, array $query = []): \Generator
    {
        do {
            $page = $this->get($path, $query);
            foreach ($page['results'] as $record) {
                yield $record;
            }
            parse_str((string) parse_url((string) $page['next'], PHP_URL_QUERY), $query);
        } while ($page['next'] !== null);
    }

    private function perform(Call $call): ?array
    {
        try {
            $access = $this->access();
            $answer = $this->send($call, $access);
            if ($answer->refusesToken()) {
                $answer = $this->send($call, $this->access(refused: $access));
            }
        } catch (MalipoError $error) {
            // No token came. What is known of the call is known of its own tries.
            $facts = [$error->status, $error->apiCode, $error->detail, $error->field, $error->requestId];
            throw new MalipoError(...$facts, idempotencyKey: $call->key, mayBeDone: $call->mayBeDone);
        } catch (\JsonException $error) {
            throw new MalipoError(0, 'body_not_json', $error->getMessage(), idempotencyKey: $call->key);
        }
        return $answer->isSuccess ? $answer->body : throw $answer->error($call);
    }

    /** Returns an access token, another one than `$refused`. */
    private function access(?string $refused = null): string
    {
        $this->token ??= $this->keptToken();
        if (
            $this->token === null
            || $this->token['access'] === $refused
            || microtime(true) >= $this->token['renew_at']
        ) {
            $call = new Call('POST', $this->baseUrl . '/auth/app/token', $this->credentials, isSafe: true);
            $answer = $this->send($call);
            $access = $answer->isSuccess ? $answer->said('access') : null;
            $lifeS = lifeOf($access);
            if ($lifeS === null) {
                throw $answer->error($call);
            }
            $renewAt = microtime(true) + max($lifeS - RENEW_BEFORE_S, $lifeS / 2);
            $this->token = ['access' => $access, 'renew_at' => $renewAt];
            $this->keepToken();
        }
        return $this->token['access'];
    }

    /** Names the app of a kept token, so that nobody uses the token of another one. */
    private function owner(): string
    {
        return hash('sha256', $this->baseUrl . "\n" . implode("\n", $this->credentials));
    }

    private function keptToken(): ?array
    {
        if ($this->tokenFile === null || !is_readable($this->tokenFile)) {
            return null;
        }
        $kept = json_decode((string) file_get_contents($this->tokenFile), true);
        return ($kept['owner'] ?? null) === $this->owner() ? $kept : null;
    }

    private function keepToken(): void
    {
        if ($this->tokenFile === null) {
            return;
        }
        // Readers see the old file or the new one. `tempnam` lets nobody else read it.
        $fresh = tempnam(dirname($this->tokenFile), 'malipo');
        file_put_contents($fresh, json_encode([...$this->token, 'owner' => $this->owner()]));
        rename($fresh, $this->tokenFile);
    }

    /** Sends a call, and again if that is safe. Returns the answer to the last try. */
    private function send(Call $call, ?string $access = null): Answer
    {
        $waits = $call->isSafe ? RETRY_WAITS_MS : [];
        $limitedMs = 0;
        while (true) {
            $answer = $this->attempt($call, $access);
            $isTurn = $call->isSafe && $answer->isLimited();
            $waitMs = $isTurn ? RETRY_WAITS_MS[0] : array_shift($waits);
            if ($waitMs === null) {
                return $answer;
            }
            $pauseMs = $answer->pause($waitMs * (1 + MAX_JITTER * mt_rand() / mt_getrandmax()));
            if ($pauseMs === null) {
                return $answer;
            }
            if ($isTurn) {
                // Processes that waited equally long would meet again.
                $pauseMs *= 1 + mt_rand() / mt_getrandmax();
                $limitedMs += $pauseMs;
                if ($limitedMs > MAX_LIMITED_MS) {
                    return $answer;
                }
            }
            usleep((int) ($pauseMs * 1_000));
        }
    }

    private function attempt(Call $call, ?string $access): Answer
    {
        $answer = $this->exchange($call, $access);
        if (!$answer->isClear()) {
            $call->mayBeDone = true;
        }
        if ($this->onAnswer) {
            $requestId = $answer->headers['x-request-id'] ?? null;
            ($this->onAnswer)($call->method, $call->path(), $answer->status, $requestId);
        }
        return $answer;
    }

    private function exchange(Call $call, ?string $access): Answer
    {
        $headers = array_filter([
            $call->body === null ? null : 'Content-Type: application/json',
            $access === null ? null : "Authorization: Bearer $access",
            $call->key === null ? null : "Idempotency-Key: $call->key",
        ]);
        $received = [];
        // A connection of its own: curl itself sends a request again when an old one is cut off.
        $curl = curl_init($call->url);
        curl_setopt_array($curl, [
            CURLOPT_CUSTOMREQUEST => $call->method,
            CURLOPT_HTTPHEADER => $headers,
            CURLOPT_RETURNTRANSFER => true,
            CURLOPT_TIMEOUT_MS => (int) ($this->timeout * 1_000),
            // A payment goes to the address that the caller has named, and to no other.
            CURLOPT_FOLLOWLOCATION => false,
            CURLOPT_HEADERFUNCTION => function ($_, string $line) use (&$received): int {
                [$name, $value] = array_pad(explode(':', $line, 2), 2, '');
                $received[strtolower(trim($name))] = trim($value);
                return strlen($line);
            },
        ]);
        if ($call->body !== null) {
            // An empty list of PHP must be an object of JSON.
            $json = json_encode((object) $call->body, JSON_THROW_ON_ERROR);
            curl_setopt($curl, CURLOPT_POSTFIELDS, $json);
        }
        $text = curl_exec($curl);
        $status = curl_getinfo($curl, CURLINFO_RESPONSE_CODE);
        return $text === false ? new Answer(0, [], curl_error($curl)) : new Answer($status, $received, $text);
    }
}

/** Writes the parameters of a query. A filter that got lost would make a list of everything. */
function textsOf(array $query): array
{
    foreach ($query as $name => $value) {
        if ($value instanceof \DateTimeInterface) {
            $query[$name] = $value->format(\DateTimeInterface::RFC3339_EXTENDED);
        } elseif ($value !== null && !is_scalar($value)) {
            $allowed = 'a text, a number or a DateTimeInterface';
            throw new \InvalidArgumentException("The query parameter $name must be $allowed");
        }
    }
    return $query;
}

/** Returns for how many seconds a token is good, whatever this machine's clock says. */
function lifeOf(?string $token): ?int
{
    $claims = explode('.', (string) $token)[1] ?? '';
    $claims = json_decode((string) base64_decode(strtr($claims, '-_', '+/')), true);
    return isset($claims['exp'], $claims['iat']) ? (int) $claims['exp'] - (int) $claims['iat'] : null;
}

/**
 * Verifies a webhook and returns its event: `id`, `sequence`, `type`, `event` and `data`. Both
 * signatures are checked. While secrets overlap, one of them is enough.
 *
 * @param string $rawBody what was received, before any parsing: `file_get_contents('php://input')`
 * @param array<string, string> $headers the request's headers, as `getallheaders()` gives them
 * @param string|string[] $secrets the app secret or the webhook secret; several while you replace one
 * @throws WebhookVerificationError if it is not authentic or cannot be read
 */
function verifyWebhook(string $rawBody, array $headers, string|array $secrets): array
{
    $headers = array_change_key_case($headers);
    $read = fn (string $name): string => ($headers[$name] ?? '') !== ''
        ? (string) $headers[$name]
        : throw new WebhookVerificationError("The webhook lacks the header $name");
    $timestamp = $read('x-service-timestamp');
    $id = $read('webhook-id');
    $signatures = explode(' ', $read('webhook-signature'));
    $own = $read('x-service-signature');
    if ($read('webhook-timestamp') !== $timestamp || !ctype_digit($timestamp)) {
        throw new WebhookVerificationError('The webhook has two times');
    }
    if (abs(time() - (int) $timestamp) > TOLERANCE_S) {
        throw new WebhookVerificationError('The webhook is more than ' . TOLERANCE_S . ' seconds from now');
    }
    $keys = array_map(standardKey(...), (array) $secrets);
    // Anybody can sign with an empty key.
    if ($keys === [] || in_array('', $keys, true)) {
        throw new \InvalidArgumentException('A webhook is verified with a secret that is not empty');
    }
    $isStandard = false;
    foreach ($keys as $key) {
        $expected = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$rawBody", $key, true));
        foreach ($signatures as $signature) {
            $isStandard = hash_equals($expected, $signature) || $isStandard;
        }
    }
    $isOwn = false;
    foreach ((array) $secrets as $secret) {
        $isOwn = hash_equals(hash_hmac('sha256', "$timestamp.$rawBody", $secret), $own) || $isOwn;
    }
    if (!$isStandard || !($isOwn || count($signatures) > 1)) {
        throw new WebhookVerificationError('The webhook is signed with another secret');
    }
    $body = json_decode($rawBody, true);
    if (!is_array($body['notification'] ?? null) || !isset($body['data'])) {
        throw new WebhookVerificationError('The webhook cannot be read');
    }
    $sequence = (int) $read('x-service-event-sequence');
    return [...$body['notification'], 'data' => $body['data'], 'id' => $id, 'sequence' => $sequence];
}

/** What follows `whsec_` is the base64 of the key of Standard Webhooks. */
function standardKey(string $secret): string
{
    return str_starts_with($secret, 'whsec_') ? (string) base64_decode(substr($secret, 6)) : $secret;
}
