import { html } from 'hono/html';
import { partsOf, resolved, type Schema, type Schemas } from './openapi-shape.ts';

export type Html = ReturnType<typeof html>;

export const NOTHING: Html = html``;

/** Renders a text of the document. Words between backticks become code. */
export function prose(text: string): Html {
  const parts = text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
  return html`${parts}`;
}

/** Renders the fields of a schema as a nested list. Empty if it has none. A recursive schema is named, not repeated. */
export function fieldList(schema: Schema, schemas: Schemas, above: readonly string[] = []): Html {
  const fields = fieldsOf(schema, schemas, above);
  return fields.length === 0 ? NOTHING : html`<ul class="fields">${fields}</ul>`;
}

function fieldsOf(given: Schema, schemas: Schemas, above: readonly string[]): Html[] {
  const { schema, name } = resolved(given, schemas);
  if (name !== null && above.includes(name)) return [];
  const path = name === null ? above : [...above, name];
  const own = Object.entries(schema.properties ?? {}).map(([key, field]) => fieldView(key, field, schemas, path));
  const inside = [schema.items, schema.additionalProperties, ...partsOf(schema)].flatMap((part) =>
    typeof part === 'object' ? fieldsOf(part, schemas, path) : [],
  );
  return [...own, ...inside];
}

function fieldView(key: string, field: Schema, schemas: Schemas, above: readonly string[]): Html {
  const description = field.description ?? resolved(field, schemas).schema.description;
  const nested = fieldsOf(field, schemas, above);
  const line = html`<code>${key}</code> <span class="type">${typeText(field, schemas)}</span> ${description === undefined ? NOTHING : prose(description)}`;
  return nested.length === 0
    ? html`<li>${line}</li>`
    : html`<li><details><summary>${line}</summary><ul class="fields">${nested}</ul></details></li>`;
}

/** Returns the type of a value in a few words, such as `string or null` or `list of NftTrade`. */
export function typeText(given: Schema, schemas: Schemas): string {
  const { schema, name } = resolved(given, schemas);
  if (schema.items !== undefined) return `list of ${typeText(schema.items, schemas)}`;
  if (name !== null && schema.properties !== undefined) return name;
  if (schema.enum !== undefined) return schema.enum.map(String).join(' or ');
  if (schema.const !== undefined) return String(schema.const);
  const parts = partsOf(schema);
  if (parts.length > 0) return [...new Set(parts.map((part) => typeText(part, schemas)))].join(' or ');
  return [schema.type ?? 'any'].flat().join(' or ');
}

/** Returns a value that fits a schema, from its examples and defaults, to prefill a request body. */
export function sampleOf(given: Schema, schemas: Schemas, above: readonly string[] = []): unknown {
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
