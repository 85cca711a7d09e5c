import { html } from 'hono/html';
import type { Operation, Parameter, Schemas } from './openapi-shape.ts';
import { fieldList, type Html, NOTHING, prose, sampleOf, typeText } from './schema-fields.ts';

export interface ListedOperation {
  readonly id: string;
  readonly group: string;
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

export function slug(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9]+/g, '-').replaceAll(/^-|-$/g, '');
}

export function operationView({ id, method, path, operation }: ListedOperation, schemas: Schemas): Html {
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

function parameterView(parameter: Parameter, id: string, schemas: Schemas): Html {
  const { name, required, schema = {} } = parameter;
  const description = parameter.description ?? schema.description;
  const inputId = `${id}-${slug(name)}`;
  return html`<div class="parameter"><label for="${inputId}"><code>${name}</code>${required === true ? html` <b>required</b>` : NOTHING}
<span class="type">${typeText(schema, schemas)}</span></label>
${inputView(parameter, inputId)}
${description === undefined ? NOTHING : html`<p>${prose(description)}</p>`}</div>
`;
}

function inputView({ name, in: place, required, schema = {}, example }: Parameter, id: string): Html {
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

function responseView(status: string, response: Operation['responses'][string], schemas: Schemas): Html {
  const { description = '', content = {} } = response;
  const schema = content['application/json']?.schema;
  // All errors have the same fields, described once in the API documentation.
  const fields = schema === undefined || !status.startsWith('2') ? NOTHING : fieldList(schema, schemas);
  return html`<div class="response"><p><b class="status">${status}</b> ${prose(description)}</p>${fields}</div>
`;
}
