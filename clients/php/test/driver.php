<?php

declare(strict_types=1);

/* Does what each line on standard input asks for, and writes what comes of it as a line of JSON. */

require __DIR__ . '/../Malipo.php';

use Malipo\Malipo;
use Malipo\MalipoError;

use function Malipo\verifyWebhook;

$answers = [];
$client = null;

$perform = function (string $what, mixed ...$rest) use (&$client, &$answers): mixed {
    if ($what === 'client') {
        [$baseUrl, $appKey, $appSecret, $options] = $rest;
        $note = function (mixed ...$answer) use (&$answers): void {
            $answers[] = $answer;
        };
        $client = new Malipo($baseUrl, $appKey, $appSecret, ...$options, onAnswer: $note);
        return null;
    }
    return match ($what) {
        'answers' => $answers,
        'get' => $client->get($rest[0], $rest[1]),
        'get with times' => $client->get(
            $rest[0],
            array_map(fn (string $text) => new \DateTimeImmutable($text), $rest[1]),
        ),
        'post' => $client->post($rest[0], $rest[1], $rest[2]),
        'post in Latin-1' => $client->post($rest[0], array_map(fn ($text) => iconv('UTF-8', 'ISO-8859-1', $text), $rest[1])),
        'delete' => $client->delete($rest[0]),
        'paginate' => iterator_to_array($client->paginate($rest[0], $rest[1]), false),
        'verify' => verifyWebhook(base64_decode($rest[0]), $rest[1], $rest[2]),
    };
};

while (($line = fgets(STDIN)) !== false) {
    try {
        $outcome = ['result' => $perform(...json_decode($line, true))];
    } catch (MalipoError $error) {
        $outcome = ['error' => [
            'name' => 'MalipoError',
            'message' => $error->getMessage(),
            'status' => $error->status,
            'code' => $error->apiCode,
            'detail' => $error->detail,
            'field' => $error->field,
            'request_id' => $error->requestId,
            'idempotency_key' => $error->idempotencyKey,
            'may_be_done' => $error->mayBeDone,
        ]];
    } catch (\RuntimeException | \InvalidArgumentException $error) {
        $name = (new \ReflectionClass($error))->getShortName();
        $outcome = ['error' => ['name' => $name, 'message' => $error->getMessage()]];
    }
    echo json_encode($outcome), "\n";
}
