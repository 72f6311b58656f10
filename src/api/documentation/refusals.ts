import { isTotpOperation } from '../../domain/access/require-access.ts';
import { exampleOf, REFUSALS, type Schema } from '../../records/schema.ts';
import { type Endpoint, type Refused, takesKey } from '../endpoints/endpoints.ts';
import { type InputSchema, NO_INPUT } from '../schemas/validator.ts';
import { published } from './named-schemas.ts';

/** Lists what an endpoint may refuse: what its input and access imply, and what it names itself. */
export function refusalsOf(endpoint: Endpoint): Refused[] {
  const { roles, approvedFor, product, body, query, refusals = [] } = endpoint;
  return [
    ...queryRefusals(query ?? NO_INPUT),
    ...(body ? bodyRefusals(body) : []),
    ...(roles ? TOKEN_REFUSALS : []),
    ...(roles && !endpoint.beforePasswordChange ? PASSWORD_REFUSALS : []),
    ...(endpoint.peopleOnly || (roles && roles.length < 3) ? ROLE_REFUSALS : []),
    ...(approvedFor && isTotpOperation(approvedFor)
      ? ([
          ['otp_login_required', approvedFor],
          ['access_too_new', '2026-11-26T20:00:00.000Z'],
        ] as Refused[])
      : []),
    ...(approvedFor ? ([['merchant_not_approved', approvedFor]] as Refused[]) : []),
    ...(product ? ([['product_missing', product]] as Refused[]) : []),
    ...(takesKey(endpoint) ? KEY_REFUSALS : []),
    ...refusals,
    ['https_required'],
    ['unavailable'],
  ];
}

function queryRefusals({ properties }: InputSchema): Refused[] {
  const wrong = [...Object.keys(properties), UNKNOWN_PARAMETER];
  return [...wrong.map((name): Refused => ['invalid_query', name]), ['invalid_request']];
}

const UNKNOWN_PARAMETER = 'no_such_parameter';

function bodyRefusals({ required = [], properties }: InputSchema): Refused[] {
  const wrong = Object.entries(properties).flatMap(([name, field]) =>
    (field[REFUSALS] ?? (['invalid_field'] as const)).map((code): Refused => [code, name]),
  );
  return [
    ['body_not_json'],
    ['invalid_request'],
    ...required.map((name): Refused => ['field_required', name]),
    ...wrong,
    ['body_too_large'],
    ['media_type_unsupported'],
  ];
}

const TOKEN_REFUSALS: Refused[] = [
  ['credentials_missing'],
  ['invalid_token_format'],
  ['invalid_token', 'Authorization'],
  ['token_revoked', 'Authorization'],
  ['ip_not_allowed'],
  ['merchant_inactive'],
  ['app_inactive'],
  ['rate_limited'],
];

const PASSWORD_REFUSALS: Refused[] = [['password_change_required']];
const ROLE_REFUSALS: Refused[] = [['role_insufficient']];

const KEY_REFUSALS: Refused[] = [
  ['invalid_field', 'Idempotency-Key'],
  ['idempotency_key_running'],
  ['idempotency_key_reused'],
];

/** Describes JSON of this schema, with an example. */
export function contentOf(schema: Schema) {
  return { 'application/json': { schema: published(schema), example: exampleOf(schema) } };
}
