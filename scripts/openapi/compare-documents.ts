import { compareSchemas, type Maker, type Schema } from './compare-schemas.ts';

interface Content {
  content?: {
    'application/json'?: {
      schema: Schema;
      examples?: Record<string, { value: { code?: string } }>;
    };
  };
}

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  schema: Schema;
}

interface Operation {
  operationId: string;
  security?: unknown[];
  'x-roles'?: string[];
  'x-product'?: string;
  'x-approved-for'?: string;
  parameters?: Parameter[];
  requestBody?: Content;
  responses: Record<string, Content & { headers?: Record<string, unknown> }>;
}

type Items = Record<string, Record<string, Operation>>;

/** The parts of an OpenAPI document that callers rely on. */
export interface ApiDocument {
  servers?: { url: string }[];
  paths: Items;
  webhooks?: Items;
  components?: { schemas?: Record<string, Schema> };
}

/**
 * Lists what callers of a released API cannot rely on any more: what is gone, what is newly
 * required, requests that are narrower and answers that are wider. Additions are no findings.
 */
export function compareDocuments(released: ApiDocument, current: ApiDocument): string[] {
  const isElsewhere = basePathOf(released) !== basePathOf(current);
  return [
    ...(isElsewhere ? [`the base path ${basePathOf(released)} is gone`] : []),
    ...compareItems(released, current, 'paths'),
    ...compareItems(released, current, 'webhooks'),
    ...allCodes(released)
      .filter((code) => !allCodes(current).includes(code))
      .map((code) => `error code ${code} is gone`),
  ];
}

/** Each installation has its own host. The path is the same everywhere. */
function basePathOf({ servers }: ApiDocument): string | undefined {
  return servers?.[0] && new URL(servers[0].url).pathname;
}

/** Returns the codes of all errors, of those too that belong to no operation. */
function allCodes({ components }: ApiDocument): string[] {
  const code = components?.schemas?.Error?.properties?.code;
  return Object.keys((code?.['x-enumDescriptions'] as object | undefined) ?? {});
}

function compareItems(
  released: ApiDocument,
  current: ApiDocument,
  part: 'paths' | 'webhooks',
): string[] {
  const items = resolved(current, part);
  return Object.entries(resolved(released, part)).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, before]) => {
      const now = items[path]?.[method];
      const findings = now ? compareOperations(before, now, part) : ['is gone'];
      const name = part === 'paths' ? `${method.toUpperCase()} ${path}` : `webhook ${path}`;
      return findings.map((finding) => `${name}: ${finding}`);
    }),
  );
}

/** Returns paths or webhooks with every reference to a schema replaced by the schema, inside of schemas, too. */
function resolved({ components, ...document }: ApiDocument, part: 'paths' | 'webhooks'): Items {
  return JSON.parse(
    JSON.stringify(document[part] ?? {}, (_, value) =>
      typeof value?.$ref === 'string' ? components?.schemas?.[value.$ref.split('/').at(-1)] : value,
    ),
  );
}

function compareOperations(
  released: Operation,
  current: Operation,
  part: 'paths' | 'webhooks',
): string[] {
  // A webhook's request is made by the service.
  const maker: Maker = part === 'paths' ? 'caller' : 'service';
  const isOtherId = released.operationId !== current.operationId;
  const needsMore = released.security?.length === 0 && current.security?.length !== 0;
  return [
    ...(isOtherId ? [`the operation id ${released.operationId} is gone`] : []),
    ...(needsMore ? ['a token is required now'] : []),
    ...compareAccess(released, current),
    ...compareParameters(released.parameters ?? [], current.parameters ?? [], maker),
    ...compareContent(released.requestBody, current.requestBody, maker, 'request'),
    ...compareResponses(released, current),
  ];
}

/** Lists who may not call it any more. An operation without a token has no roles. */
function compareAccess(released: Operation, current: Operation): string[] {
  const roles = (released['x-roles'] ?? []).filter((role) => !current['x-roles']?.includes(role));
  const conditions = (['x-product', 'x-approved-for'] as const).filter(
    (name) => current[name] !== undefined && current[name] !== released[name],
  );
  return [
    ...(current['x-roles'] ? roles : []).map((role) => `role ${role} may not call it any more`),
    ...conditions.map((name) => `${name} ${current[name]} is required now`),
  ];
}

function compareParameters(released: Parameter[], current: Parameter[], maker: Maker): string[] {
  const find = (list: Parameter[], { name, in: place }: Parameter) =>
    list.find((other) => other.name === name && other.in === place);
  const required = current.filter((now) => now.required && !find(released, now)?.required);
  const gone = released.filter((before) => !find(current, before));
  const kept = released.filter((before) => find(current, before));
  return [
    ...(maker === 'caller' ? required : []).map(({ name }) => `parameter ${name} is required now`),
    ...gone.map(({ name }) => `parameter ${name} is gone`),
    ...kept.flatMap((before) =>
      compareSchemas(
        before.schema,
        find(current, before)!.schema,
        maker,
        `parameter ${before.name}`,
      ),
    ),
  ];
}

function compareResponses(released: Operation, current: Operation): string[] {
  return Object.entries(released.responses).flatMap(([status, before]) => {
    const path = `answer ${status}`;
    const now = current.responses[status];
    if (!now) return [`${path} is gone`];
    const headers = Object.keys(before.headers ?? {}).filter((name) => !now.headers?.[name]);
    const codes = codesOf(before).filter((code) => !codesOf(now).includes(code));
    return [
      ...headers.map((name) => `${path}: header ${name} is gone`),
      ...codes.map((code) => `${path}: error code ${code} is gone`),
      ...compareContent(before, now, 'service', path),
    ];
  });
}

function compareContent(
  released: Content | undefined,
  current: Content | undefined,
  maker: Maker,
  path: string,
): string[] {
  const before = released?.content?.['application/json']?.schema;
  const now = current?.content?.['application/json']?.schema;
  if (before && now) return compareSchemas(before, now, maker, path);
  if (before) return [`${path} is gone`];
  return now && maker === 'caller' ? [`${path} is required now`] : [];
}

/** Returns the codes of the errors that an answer shows as examples. */
function codesOf({ content }: Content): string[] {
  const examples = Object.values(content?.['application/json']?.examples ?? {});
  return [...new Set(examples.flatMap(({ value }) => value.code ?? []))];
}
