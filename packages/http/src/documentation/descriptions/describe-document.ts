import { type OpenApiDocument, openApiShape, type Schema, type Schemas } from '../reference/openapi-shape.ts';
import { ASSET_FIELDS } from './asset-fields.ts';
import { CHAIN_FIELDS } from './chain-fields.ts';
import { PARAMETER_DESCRIPTIONS } from './parameter-descriptions.ts';
import { STREAM_FIELDS } from './stream-fields.ts';
import { WALLET_FIELDS } from './wallet-fields.ts';

/**
 * Descriptions by field name, for fields that mean the same in all schemas. `Outer.name` takes precedence: Outer is a
 * component, an operation id, or the field that contains this one.
 */
const FIELD_DESCRIPTIONS: Readonly<Record<string, string>> = {
  ...CHAIN_FIELDS,
  ...ASSET_FIELDS,
  ...WALLET_FIELDS,
  ...STREAM_FIELDS,
};

/** Returns an OpenAPI document with descriptions from this folder for parameters and fields that have none. */
export function withDescriptions(given: object): OpenApiDocument {
  const { paths, components, ...rest } = openApiShape.parse(given);
  const schemas = components?.schemas ?? {};
  return {
    ...rest,
    paths: Object.fromEntries(
      Object.entries(paths).map(([path, operations]) => [
        path,
        Object.fromEntries(
          Object.entries(operations).map(([method, operation]) => [method, describedOperation(operation, schemas)]),
        ),
      ]),
    ),
    components: {
      ...components,
      schemas: Object.fromEntries(
        Object.entries(schemas).map(([name, schema]) => [name, describedSchema(schema, { outer: [name], schemas })]),
      ),
    },
  };
}

type Operation = OpenApiDocument['paths'][string][string];
type Content = NonNullable<Operation['responses'][string]['content']>;

function describedOperation(operation: Operation, schemas: Schemas): Operation {
  const id = operation.operationId ?? '';
  const place = { outer: [id], schemas };
  const { parameters, requestBody, responses } = operation;
  return {
    ...operation,
    ...(parameters !== undefined && {
      parameters: parameters.map((parameter) => {
        const description = parameter.description ?? textOf(PARAMETER_DESCRIPTIONS, parameter.name, [id]);
        return description === undefined ? parameter : { ...parameter, description };
      }),
    }),
    ...(requestBody !== undefined && {
      requestBody: { ...requestBody, content: describedContent(requestBody.content, place) },
    }),
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, response]) => [
        status,
        response.content === undefined ? response : { ...response, content: describedContent(response.content, place) },
      ]),
    ),
  };
}

interface Place {
  /** Names of the enclosing fields, operation or component, innermost first. */
  readonly outer: readonly string[];
  readonly schemas: Schemas;
}

function describedContent(content: Content, place: Place): Content {
  return Object.fromEntries(
    Object.entries(content).map(([type, body]) => [
      type,
      body.schema === undefined ? body : { ...body, schema: describedSchema(body.schema, place) },
    ]),
  );
}

function describedSchema(schema: Schema, place: Place): Schema {
  const inside = (part: Schema): Schema => describedSchema(part, place);
  const { properties, items, additionalProperties, allOf, anyOf, oneOf } = schema;
  return {
    ...schema,
    ...(properties !== undefined && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, field]) => [name, describedField(name, field, place)]),
      ),
    }),
    ...(items !== undefined && { items: inside(items) }),
    ...(typeof additionalProperties === 'object' && { additionalProperties: inside(additionalProperties) }),
    ...(allOf !== undefined && { allOf: allOf.map(inside) }),
    ...(anyOf !== undefined && { anyOf: anyOf.map(inside) }),
    ...(oneOf !== undefined && { oneOf: oneOf.map(inside) }),
  };
}

function describedField(name: string, field: Schema, { outer, schemas }: Place): Schema {
  const inside = describedSchema(field, { outer: [name, ...outer], schemas });
  const component = field.$ref === undefined ? undefined : schemas[field.$ref.split('/').at(-1) ?? ''];
  if (field.description !== undefined || component?.description !== undefined) return inside;
  const description = textOf(FIELD_DESCRIPTIONS, name, outer);
  return description === undefined ? inside : { ...inside, description };
}

function textOf(texts: Readonly<Record<string, string>>, name: string, outer: readonly string[]): string | undefined {
  const scope = outer.find((one) => Object.hasOwn(texts, `${one}.${name}`));
  if (scope !== undefined) return texts[`${scope}.${name}`];
  return Object.hasOwn(texts, name) ? texts[name] : undefined;
}
