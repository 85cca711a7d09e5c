import { z } from 'zod';
import type { ToolSchema } from './tool.ts';

interface OperationParameter {
  readonly name: string;
  readonly shown: string;
  readonly place: 'path' | 'query';
  readonly isRequired: boolean;
  readonly schema: Readonly<Record<string, unknown>>;
}

export interface ApiOperation {
  readonly path: string;
  readonly parameters: readonly OperationParameter[];
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
  from_date: { type: 'string', description: 'Such as 2024-01-31' },
  to_date: { type: 'string', description: 'Last time' },
  order: { type: 'string', enum: ['ASC', 'DESC'], description: 'By block' },
  token_addresses: { type: 'array', items: { type: 'string' }, description: 'Only these tokens' },
  days: { type: 'string', description: 'Such as 7, 30 or all' },
};

function toParameter(given: z.infer<typeof parameterShape>): OperationParameter {
  const { name, in: place, required: isRequired, schema } = given;
  const shown =
    place === 'path' && /^token_?address$/i.test(name)
      ? 'address'
      : (SHOWN[name] ?? name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
  const description = (given.description ?? String(schema.description ?? '')).split(/[.:] |\.$/)[0] ?? '';
  const { type, enum: values, items } = schema;
  const own = {
    ...Object.fromEntries(
      Object.entries({ type, enum: values, items }).filter(([, value]) => value !== undefined),
    ),
    description,
  };
  return { name, shown, place, isRequired, schema: { ...(SCHEMAS[shown] ?? own) } };
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
        parameters.map(({ shown, schema }) => [
          shown,
          shown === 'limit' ? { type: 'integer', description: `Default ${LIMIT_DEFAULT}, at most 100` } : schema,
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

const UNITS: Readonly<Record<string, number>> = {
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 7 * 86_400_000,
};

interface DateRange {
  readonly from: string;
  readonly to: string;
  /** False if `to` is now: newer blocks belong to the range. */
  readonly hasEnd: boolean;
}

export const RANGE_DESCRIPTION = 'today, yesterday, last 7 days (UTC)';

/** In UTC; null if the words name no range. @param now milliseconds since the Unix epoch */
export function dateRange(words: string, now: number): DateRange | null {
  const text = words.trim().toLowerCase();
  const midnight = now - (now % (UNITS.day ?? now));
  if (text === 'today') return rangeOf(midnight, now, false);
  if (text === 'yesterday') return rangeOf(midnight - (UNITS.day ?? 0), midnight - 1_000, true);
  const { count = '1', unit = '' } =
    /^(?:the )?last (?:(?<count>\d{1,4}) )?(?<unit>minute|hour|day|week)s?$/.exec(text)?.groups ?? {};
  const length = UNITS[unit];
  return length === undefined ? null : rangeOf(now - Number(count) * length, now, false);
}

function rangeOf(from: number, to: number, hasEnd: boolean): DateRange {
  const textOf = (time: number): string => new Date(time).toISOString().replace(/\.\d+Z$/, 'Z');
  return { from: textOf(from), to: textOf(to), hasEnd };
}
