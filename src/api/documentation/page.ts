import { ERROR_ANSWERS } from '../error-answers.ts';
import type { Schema } from '../schemas/fields.ts';
import { html, prose, raw } from './html.ts';
import type { openApiDocument } from './openapi.ts';

/**
 * The documentation as one page of plain HTML, made from the OpenAPI document: no script,
 * nothing from elsewhere, so it works offline and under the strictest content policy.
 */

type Document = ReturnType<typeof openApiDocument>;

interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  deprecated?: boolean;
  security?: unknown[];
  parameters: {
    name: string;
    in: string;
    required: boolean;
    description?: string;
    schema: Schema;
  }[];
  requestBody?: { content: { 'application/json': { schema: Schema; example: unknown } } };
  responses: Record<string, { content?: Record<string, Content> }>;
}

interface Content {
  schema: Schema;
  example?: unknown;
  examples?: Record<string, { value: object }>;
}

export function renderPage(document: Document): string {
  const calls = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      title: `${method.toUpperCase()} ${path}`,
      operation: operation as Operation,
    })),
  );
  const events = Object.values(document.webhooks).map(({ post }) => ({
    title: 'POST to your callback_url',
    operation: post as unknown as Operation,
  }));
  const sections = document.tags.map(
    ({ name }) =>
      html`<section><h2 id="${name}">${name}</h2>${raw(
        calls
          .filter(({ operation }) => operation.tags[0] === name)
          .map(({ title, operation }) => renderOperation(title, operation))
          .join(''),
      )}</section>`,
  );
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${document.info.title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="/docs/style.css"></head><body>
<nav>${raw(renderNavigation(document, [...calls, ...events]))}</nav><main>
<h1>${document.info.title}</h1><p>${prose(document.info.description)}</p>
<p>Base address: <code>${document.servers[0]!.url}</code>. Programs read <a href="/openapi.json">openapi.json</a>.</p>
${raw(sections.join(''))}
${raw(renderErrors())}
<section><h2 id="Webhooks">Webhooks</h2>${raw(
    events.map(({ title, operation }) => renderOperation(title, operation)).join(''),
  )}</section></main></body></html>`;
}

function renderNavigation(
  { tags }: Document,
  operations: { title: string; operation: Operation }[],
): string {
  const groups = [...tags.map(({ name }) => name), 'Errors', 'Webhooks'];
  return groups
    .map((group) => {
      const links = operations
        .filter(({ title, operation }) =>
          group === 'Webhooks'
            ? title.endsWith('callback_url')
            : operation.tags[0] === group && !title.endsWith('callback_url'),
        )
        .map(
          ({ operation }) =>
            html`<li><a href="#${operation.operationId}">${operation.summary}</a></li>`,
        );
      return html`<a href="#${group}">${group}</a><ul>${raw(links.join(''))}</ul>`;
    })
    .join('');
}

function renderErrors(): string {
  const rows = Object.entries(ERROR_ANSWERS).map(
    ([code, { status, meaning }]) =>
      html`<tr><th><code>${code}</code></th><td>${String(status)}</td><td>${prose(meaning)}</td></tr>`,
  );
  return html`<section><h2 id="Errors">Errors</h2>
<p>An error is <code>{"detail": …, "code": …, "field": …}</code>. <code>detail</code> says in words what is wrong. <code>code</code> is for programs; codes may be added. <code>field</code> names the field, parameter or header to blame, and is left out where none is. Unless an error says otherwise, nothing was changed.</p>
<table><thead><tr><th>Code</th><th>Status</th><th>Meaning</th></tr></thead>${raw(rows.join(''))}</table></section>`;
}

function renderOperation(title: string, operation: Operation): string {
  const { operationId, summary, description, deprecated, parameters, requestBody } = operation;
  const open = operation.security?.length === 0 ? ' No token needed.' : '';
  return html`<article id="${operationId}"><h3>${summary}</h3>
<p class="call"><code>${title}</code>${deprecated ? ' (deprecated)' : ''}</p>
<p>${prose(description ?? '')}${open}</p>
${raw(renderParameters(parameters))}
${raw(requestBody ? renderBody('Body', requestBody.content['application/json']) : '')}
${raw(renderResponses(operation))}</article>`;
}

function renderParameters(parameters: Operation['parameters']): string {
  if (parameters.length === 0) return '';
  const rows = parameters.map((parameter) =>
    renderRow(parameter.name, `${parameter.in}, ${parameter.required ? 'required' : 'optional'}`, {
      ...parameter.schema,
      description: parameter.description ?? parameter.schema.description,
    }),
  );
  return html`<h4>Parameters</h4><table>${raw(rows.join(''))}</table>`;
}

function renderBody(
  title: string,
  { schema, example }: { schema: Schema; example?: unknown },
): string {
  const required = (schema.required ?? []) as string[];
  const rows = Object.entries((schema.properties ?? {}) as Record<string, Schema>).map(
    ([name, property]) => renderRow(name, required.includes(name) ? '' : 'optional', property),
  );
  return html`<h4>${title}</h4><table>${raw(rows.join(''))}</table><pre>${JSON.stringify(example, null, 2)}</pre>`;
}

function renderRow(name: string, note: string, schema: Schema): string {
  const type = [
    schema.type ?? (schema.enum ? (schema.enum as string[]).join(' | ') : schema.const),
  ].flat();
  const fallback = schema.default === undefined ? [] : [`Default ${String(schema.default)}`];
  const about = [schema.description ?? [], fallback].flat().join('. ');
  return html`<tr><th><code>${name}</code></th><td>${type.join(' or ')}<br><small>${note}</small></td><td>${prose(about)}</td></tr>`;
}

function renderResponses({ responses }: Operation): string {
  const answer = responses['200']?.content?.['application/json'];
  const failures = Object.entries(responses)
    .filter(([status]) => status !== '200')
    .flatMap(([status, { content }]) =>
      Object.values(content?.['application/json']?.examples ?? {}).map(
        ({ value }) =>
          html`<tr><th>${status}</th><td><code>${JSON.stringify(value)}</code></td></tr>`,
      ),
    );
  return html`${raw(answer ? renderBody('Answer 200', answer) : '')}${raw(
    failures.length > 0
      ? html`<details><summary>Errors</summary><table>${raw(failures.join(''))}</table></details>`
      : '',
  )}`;
}
