import { z } from 'zod';
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

export const DATE_DESCRIPTION = 'Such as 2024-01-31, yesterday or 7 days ago';

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

const UNITS: Readonly<Record<string, number>> = {
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 7 * 86_400_000,
  month: 30 * 86_400_000,
  year: 365 * 86_400_000,
};
const SHORT_UNITS: Readonly<Record<string, string>> = { h: 'hour', d: 'day', w: 'week', y: 'year' };
const DAY_MS = 86_400_000;

interface DateRange {
  readonly from: string;
  readonly to: string;
  /** False if `to` is now: newer blocks belong to the range. */
  readonly hasEnd: boolean;
}

export const RANGE_DESCRIPTION = 'today, yesterday, this week, this month, a week, last 7 days (UTC)';

/** In UTC; null if the words name no range. A month is 30 days, a year 365. Weeks start on Monday. @param now milliseconds since the Unix epoch */
export function dateRange(words: string, now: number): DateRange | null {
  const text = plain(words);
  if (text === 'yesterday') return rangeOf(midnightOf(now) - DAY_MS, midnightOf(now) - 1_000, true);
  const from = startOf(text, now);
  if (from !== null) return rangeOf(from, now, false);
  const { amount = '' } = /^(?:(?:the )?(?:last|past) )?(?<amount>.+)$/.exec(text)?.groups ?? {};
  const length = lengthOf(amount);
  return length === null ? null : rangeOf(now - length, now, false);
}

/** A time relative to now, as ISO 8601. Other texts stay as they are. */
export function dateOf(words: string, now: number): string {
  const text = plain(words);
  const { amount = '' } = /^(?<amount>.+) ago$/.exec(text)?.groups ?? {};
  const length = lengthOf(amount);
  if (text === 'now') return textOf(now);
  if (text === 'yesterday') return textOf(midnightOf(now) - DAY_MS);
  const start = startOf(text, now);
  if (start !== null) return textOf(start);
  return length === null ? words : textOf(now - length);
}

function startOf(text: string, now: number): number | null {
  const midnight = midnightOf(now);
  const date = new Date(midnight);
  switch (text) {
    case 'today':
      return midnight;
    case 'this week':
      return midnight - ((date.getUTCDay() + 6) % 7) * DAY_MS;
    case 'this month':
      return date.setUTCDate(1);
    case 'this year':
      return date.setUTCMonth(0, 1);
    default:
      return null;
  }
}

/** Such as `7 days`, `7d`, `a week` and `hour`, in milliseconds. */
function lengthOf(amount: string): number | null {
  const { count = '1', unit = '' } =
    /^(?:(?<count>\d{1,4}) |an? |one )?(?<unit>minute|hour|day|week|month|year)s?$/.exec(amount)?.groups ??
    /^(?<count>\d{1,4})(?<unit>[hdwy])$/.exec(amount)?.groups ??
    {};
  const length = UNITS[SHORT_UNITS[unit] ?? unit];
  return length === undefined ? null : Number(count) * length;
}

function plain(words: string): string {
  return words.trim().toLowerCase().replaceAll(/\s+/g, ' ');
}

function midnightOf(now: number): number {
  return now - (now % DAY_MS);
}

function rangeOf(from: number, to: number, hasEnd: boolean): DateRange {
  return { from: textOf(from), to: textOf(to), hasEnd };
}

function textOf(time: number): string {
  return new Date(time).toISOString().replace(/\.\d+Z$/, 'Z');
}
