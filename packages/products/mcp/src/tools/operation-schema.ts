import { z } from 'zod';
import { DATE_DESCRIPTION, RANGE_DESCRIPTION } from './date-range.ts';
import type { ToolSchema } from './tool.ts';

interface OperationParameter {
  readonly name: string;
  readonly shown: string;
  readonly place: 'path' | 'query';
  readonly isRequired: boolean;
  readonly schema: Readonly<Record<string, unknown>>;
  /** The route lowers larger numbers. Undefined: no such bound. */
  readonly largest?: number | undefined;
}

export interface ApiOperation {
  readonly path: string;
  readonly parameters: readonly OperationParameter[];
  /** Query parameters of each call, which agents don't see. */
  readonly fixed?: Readonly<Record<string, string>> | undefined;
}

const parameterShape = z.looseObject({
  name: z.string(),
  in: z.enum(['path', 'query']),
  required: z.boolean().default(false),
  description: z.string().optional(),
  schema: z.record(z.string(), z.unknown()).default({}),
});
const operationShape = z.looseObject({
  operationId: z.string(),
  parameters: z.array(z.looseObject({ in: z.string() })).default([]),
});
const documentShape = z.looseObject({
  paths: z.record(z.string(), z.looseObject({ get: z.unknown().optional() })),
});

export function readOperations(document: unknown): ReadonlyMap<string, ApiOperation> {
  const { paths } = documentShape.parse(document);
  return new Map(
    Object.entries(paths).flatMap(([path, { get }]) => {
      const { data: operation } = operationShape.safeParse(get);
      if (operation === undefined) return [];
      const given = operation.parameters.filter((one) => one.in === 'path' || one.in === 'query');
      const parameters = z.array(parameterShape).parse(given);
      const shown = parameters.filter(({ name }) => !LEFT_OUT.has(name)).map(toParameter);
      return [[operation.operationId, { path, parameters: shown }]];
    }),
  );
}

const LEFT_OUT: ReadonlySet<string> = new Set(
  `block_number boostVerifiedContracts closest disable_total exchange exclude_native exclude_spam exclude_unverified_contracts explain final
  format include include_input_data include_internal_transactions include_prices isVerifiedContract max_token_inactivity
  media_items min_pair_side_liquidity_usd nft_metadata normalizeMetadata proof sortBy`.split(/\s+/),
);

const SHOWN: Readonly<Record<string, string>> = {
  chains: 'chain',
  contract_addresses: 'token_addresses',
  transaction_hash: 'hash',
  block_number_or_hash: 'block',
};

const SCHEMAS: Readonly<Record<string, object>> = {
  address: { type: 'string', description: '0x and 40 digits' },
  chain: { type: 'string', description: 'Such as eth' },
  cursor: { type: 'string', description: 'From the page before' },
  from_block: { type: 'integer', description: 'First block' },
  to_block: { type: 'integer', description: 'Last block' },
  from_date: { type: 'string', description: DATE_DESCRIPTION },
  to_date: { type: 'string', description: 'Last time' },
  order: { type: 'string', enum: ['ASC', 'DESC'], description: 'By block' },
  token_addresses: { type: 'array', items: { type: 'string' }, description: 'Only these tokens' },
  days: { type: 'string', description: 'Such as 7, 30 or all' },
};

function toParameter(given: z.infer<typeof parameterShape>): OperationParameter {
  const { name, in: place, schema } = given;
  const shown =
    place === 'path' && /^token_?address$/i.test(name)
      ? 'address'
      : (SHOWN[name] ?? name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
  const words = given.description ?? String(schema.description ?? '');
  const isRequired = given.required || words.includes('Required without a cursor');
  const largest = /lowered to (\d+)/.exec(words)?.[1];
  const description = words.split(/[.:] |\.$/)[0] ?? '';
  const { type, enum: values, items } = schema;
  const own = {
    ...Object.fromEntries(
      Object.entries({ type, enum: values, items }).filter(([, value]) => value !== undefined),
    ),
    description,
  };
  return {
    ...{ name, shown, place, isRequired, schema: { ...(SCHEMAS[shown] ?? own) } },
    ...(largest !== undefined && { largest: Number(largest) }),
  };
}

export const LIMIT_DEFAULT = 20;

export function takesDates({ parameters }: ApiOperation): boolean {
  return ['from_date', 'to_date'].every((date) => parameters.some(({ shown }) => shown === date));
}

export function schemaOf(operation: ApiOperation): ToolSchema {
  const { parameters } = operation;
  const hasRange = takesDates(operation);
  return {
    type: 'object',
    properties: {
      ...Object.fromEntries(
        parameters.map(({ shown, schema, largest }) => [
          shown,
          shown === 'limit' ? limitSchema(largest) : schema,
        ]),
      ),
      ...(hasRange && { range: { type: 'string', description: RANGE_DESCRIPTION } }),
    },
    required: parameters
      .filter(({ shown, isRequired }) => isRequired && !(hasRange && /_date$/.test(shown)))
      .map(({ shown }) => shown),
    additionalProperties: false,
  };
}

function limitSchema(largest = Number.POSITIVE_INFINITY): object {
  const most = Number.isFinite(largest) ? `, at most ${largest}` : '';
  return { type: 'integer', description: `Default ${Math.min(LIMIT_DEFAULT, largest)}${most}` };
}
