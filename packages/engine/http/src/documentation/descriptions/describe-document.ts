import { mapOperations, mapValues } from '../../map-values.ts';
import { type OpenApiDocument, openApiShape, type Schema, type Schemas } from '../reference/openapi-shape.ts';
import { ASSET_FIELDS } from './asset-fields.ts';
import { CHAIN_FIELDS } from './chain-fields.ts';
import { STREAM_FIELDS } from './stream-fields.ts';
import { WALLET_FIELDS } from './wallet-fields.ts';

/** `Outer.name` takes precedence. Outer: a component, an operation id, or the containing field. */
const FIELD_DESCRIPTIONS: Readonly<Record<string, string>> = {
  ...CHAIN_FIELDS,
  ...ASSET_FIELDS,
  ...WALLET_FIELDS,
  ...STREAM_FIELDS,
};

export function withDescriptions(document: object): OpenApiDocument {
  const { paths, components, ...rest } = openApiShape.parse(document);
  const schemas = components?.schemas ?? {};
  return {
    ...rest,
    paths: mapOperations(paths, (operation) => describedOperation(operation, schemas)),
    components: {
      ...components,
      schemas: mapValues(schemas, (schema, name) => describedSchema(schema, { outer: [name], schemas })),
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
    responses: mapValues(responses, (response) =>
      response.content === undefined
        ? response
        : { ...response, content: describedContent(response.content, place) },
    ),
  };
}

interface Place {
  readonly outer: readonly string[];
  readonly schemas: Schemas;
}

function describedContent(content: Content, place: Place): Content {
  return mapValues(content, (body) =>
    body.schema === undefined ? body : { ...body, schema: describedSchema(body.schema, place) },
  );
}

function describedSchema(schema: Schema, place: Place): Schema {
  const inside = (part: Schema): Schema => describedSchema(part, place);
  const { properties, items, additionalProperties, allOf, anyOf, oneOf } = schema;
  return {
    ...schema,
    ...(properties !== undefined && {
      properties: mapValues(properties, (field, name) => describedField(name, field, place)),
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

function textOf(
  texts: Readonly<Record<string, string>>,
  name: string,
  outer: readonly string[],
): string | undefined {
  const scope = outer.find((outerName) => Object.hasOwn(texts, `${outerName}.${name}`));
  if (scope !== undefined) return texts[`${scope}.${name}`];
  return Object.hasOwn(texts, name) ? texts[name] : undefined;
}

const PARAMETER_DESCRIPTIONS: Readonly<Record<string, string>> = {
  address: 'Address of the wallet or contract in the path: 0x and 40 hexadecimal digits.',
  apiKey: 'API key.',
  blockNumber: 'Block number, decimal.',
  chain: 'Chain by name (eth, base, …), hexadecimal or decimal id.',
  chainId: 'Chain id, hexadecimal with 0x.',
  deliveryStatus: 'Returns only attempts with this result. Can be repeated.',
  domain: 'Name to resolve, such as vitalik.eth.',
  'GetLogs.blockNumber': 'Returns only attempts of these blocks. Can be repeated.',
  'GetHistory.blockNumber': 'Returns only webhooks of these blocks. Can be repeated.',
  id: 'Stream id (UUID).',
  'ReplayHistory.id': 'Id of the failed webhook (UUID), from `/history`.',
  interval: 'Length of the requested period.',
  limit: 'Rows per page.',
  marketplace: 'Returns only trades of this marketplace. `all` returns trades of all marketplaces.',
  status: 'Returns only streams with this status.',
  streamId: 'Stream id (UUID).',
  token_address: 'Address of the token contract: 0x and 40 hexadecimal digits.',
  tokenAddress: 'Address of the token contract: 0x and 40 hexadecimal digits.',
  transaction_hash: 'Transaction hash: 0x and 64 hexadecimal digits.',
  transactionHash: 'Returns only webhooks that contain this transaction: 0x and 64 hexadecimal digits.',
};
