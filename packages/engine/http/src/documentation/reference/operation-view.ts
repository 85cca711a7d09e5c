import { html } from 'hono/html';
import {
  type OpenApiOperation,
  type OpenApiParameter,
  partsOf,
  resolved,
  type Schema,
  type Schemas,
} from './openapi-shape.ts';

export interface ListedOperation {
  readonly id: string;
  readonly group: string;
  readonly method: string;
  readonly path: string;
  readonly operation: OpenApiOperation;
}

export function slug(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9]+/g, '-').replaceAll(/^-|-$/g, '');
}

export function operationView({ id, method, path, operation }: ListedOperation, schemas: Schemas): ReferenceHtml {
  const { description, parameters = [], requestBody } = operation;
  const body = requestBody?.content['application/json'];
  return html`${description === undefined ? NOTHING : html`<p>${prose(description)}</p>`}
<form data-method="${method}" data-path="${path}">
${parameters.length === 0 ? NOTHING : html`<h3>Parameters</h3>${parameters.map((parameter) => parameterView(parameter, `${id}-${parameter.in}`, schemas))}`}
${
  body?.schema === undefined
    ? NOTHING
    : html`<h3>Request body</h3>
<textarea name="body" rows="8" spellcheck="false" aria-label="Request body">${JSON.stringify(body.example ?? sampleOf(body.schema, schemas), null, 2)}</textarea>
${fieldList(body.schema, schemas)}`
}
<button>Send</button>
</form>
<output hidden></output>
<h3>Responses</h3>
${Object.entries(operation.responses).map(([status, response]) => responseView(status, response, schemas))}
`;
}

function parameterView(parameter: OpenApiParameter, id: string, schemas: Schemas): ReferenceHtml {
  const { name, required, schema = {} } = parameter;
  const description = parameter.description ?? schema.description;
  const inputId = `${id}-${slug(name)}`;
  return html`<div class="parameter"><label for="${inputId}"><code>${name}</code>${required === true ? html` <b>required</b>` : NOTHING}
<span class="type">${typeText(schema, schemas)}</span></label>
${inputView(parameter, inputId)}
${description === undefined ? NOTHING : html`<p>${prose(description)}</p>`}</div>
`;
}

function inputView(
  { name, in: place, required, schema = {}, example }: OpenApiParameter,
  id: string,
): ReferenceHtml {
  const given = example ?? schema.example ?? schema.default;
  const value = given === undefined || given === null ? '' : String(given);
  const choices = schema.type === 'boolean' ? ['true', 'false'] : schema.enum?.map(String);
  const isRequired = required === true ? html`required` : NOTHING;
  if (choices === undefined)
    return html`<input id="${id}" name="${name}" data-in="${place}" value="${value}" autocomplete="off" spellcheck="false" ${isRequired}>`;
  const options = ['', ...choices].map(
    (choice) => html`<option ${choice === value ? html`selected` : NOTHING}>${choice}</option>`,
  );
  return html`<select id="${id}" name="${name}" data-in="${place}" ${isRequired}>${options}</select>`;
}

function responseView(
  status: string,
  response: OpenApiOperation['responses'][string],
  schemas: Schemas,
): ReferenceHtml {
  const { description = '', content = {} } = response;
  const schema = content['application/json']?.schema;
  const fields = schema === undefined || !status.startsWith('2') ? NOTHING : fieldList(schema, schemas);
  return html`<div class="response"><p><b class="status">${status}</b> ${prose(description)}</p>${fields}</div>
`;
}

export type ReferenceHtml = ReturnType<typeof html>;

export const NOTHING: ReferenceHtml = html``;

export function prose(text: string): ReferenceHtml {
  const parts = text
    .split('`')
    .map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
  return html`${parts}`;
}

function fieldList(schema: Schema, schemas: Schemas, above: readonly string[] = []): ReferenceHtml {
  const fields = fieldsOf(schema, schemas, above);
  return fields.length === 0 ? NOTHING : html`<ul class="fields">${fields}</ul>`;
}

function fieldsOf(given: Schema, schemas: Schemas, above: readonly string[]): ReferenceHtml[] {
  const { schema, name } = resolved(given, schemas);
  if (name !== null && above.includes(name)) return [];
  const path = name === null ? above : [...above, name];
  const own = Object.entries(schema.properties ?? {}).map(([key, field]) => fieldView(key, field, schemas, path));
  const inside = [schema.items, schema.additionalProperties, ...partsOf(schema)].flatMap((part) =>
    typeof part === 'object' ? fieldsOf(part, schemas, path) : [],
  );
  return [...own, ...inside];
}

function fieldView(key: string, field: Schema, schemas: Schemas, above: readonly string[]): ReferenceHtml {
  const description = field.description ?? resolved(field, schemas).schema.description;
  const nested = fieldsOf(field, schemas, above);
  const line = html`<code>${key}</code> <span class="type">${typeText(field, schemas)}</span> ${description === undefined ? NOTHING : prose(description)}`;
  return nested.length === 0
    ? html`<li>${line}</li>`
    : html`<li><details><summary>${line}</summary><ul class="fields">${nested}</ul></details></li>`;
}

/** `string or null`, `list of NftTrade`. */
function typeText(given: Schema, schemas: Schemas): string {
  const { schema, name } = resolved(given, schemas);
  if (schema.items !== undefined) return `list of ${typeText(schema.items, schemas)}`;
  if (name !== null && schema.properties !== undefined) return name;
  if (schema.enum !== undefined) return schema.enum.map(String).join(' or ');
  if (schema.const !== undefined) return String(schema.const);
  const parts = partsOf(schema);
  if (parts.length > 0) return [...new Set(parts.map((part) => typeText(part, schemas)))].join(' or ');
  return [schema.type ?? 'any'].flat().join(' or ');
}

function sampleOf(given: Schema, schemas: Schemas, above: readonly string[] = []): unknown {
  const { schema, name } = resolved(given, schemas);
  const value = schema.example ?? schema.default ?? schema.const ?? schema.enum?.[0];
  if (value !== undefined) return value;
  if (name !== null && above.includes(name)) return null;
  const path = name === null ? above : [...above, name];
  if (schema.properties !== undefined) {
    const required = Object.entries(schema.properties).filter(
      ([key, field]) =>
        schema.required?.includes(key) === true || resolved(field, schemas).schema.example !== undefined,
    );
    return Object.fromEntries(required.map(([key, field]) => [key, sampleOf(field, schemas, path)]));
  }
  if (schema.items !== undefined) return [sampleOf(schema.items, schemas, path)];
  const [first] = partsOf(schema);
  if (first !== undefined) return sampleOf(first, schemas, path);
  const type = [schema.type].flat()[0];
  return type === undefined ? null : (SAMPLES[type] ?? null);
}

const SAMPLES: Readonly<Record<string, unknown>> = {
  string: '',
  integer: 0,
  number: 0,
  boolean: false,
  object: {},
  array: [],
};
