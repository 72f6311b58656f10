/** The introduction of the OpenAPI document, in Markdown. */
export function introduction(publicUrl: string): string {
  return `Payments for merchants in Kenya. New here? The [guides](${publicUrl}/docs/guides) lead you to a first payment.

- Amounts are strings with two decimals, in KES. Phones are in E.164 form. Times are UTC.
- Every error has \`detail\` in words, \`code\` for programs and, where one is to blame, the \`field\`. "Error" under "Models" lists all codes.
- Fields and codes may be added: ignore those that you do not know.

## Your first request

1. Get a token. An app sends its key and its secret to \`POST /auth/app/token\`. A person logs in with \`POST /auth/login\`. The sandbox writes the keys and secrets of two apps to \`.sandbox/sandbox.json\`.
2. Send the \`access\` of the answer with every other request, as the header \`Authorization: Bearer ACCESS\`. It is good for 15 minutes. Then get another one with \`POST /auth/refresh\`.

To try requests on this page, press "Test Request" at "Get tokens for an app", put in your key and secret, and send it. Then paste the \`access\` of the answer into "Bearer Token" under "Authentication". From now on every request that you send here has it. Requests on this page are real: those of payments move money.

The samples read the token from the environment variable \`ACCESS\`.`;
}
