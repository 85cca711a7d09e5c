import { type Address, ChainsteadError, isAddress, MAX_UINT256, parseAddress, parseDate } from '@chainstead/core';
import { z } from '@hono/zod-openapi';
import { CHAIN_ALLOWED, type ChainLookup } from './indexed-chains.ts';

export type Order = 'ASC' | 'DESC';

interface ParameterOptions {
  readonly chains: ChainLookup;
  readonly pageLimitDefault?: number;
  /** Larger values are clamped. */
  readonly pageLimitMax: number;
}

const ARRAY_ITEMS_MAX = 100;
const PAGE_LIMIT_DEFAULT = 100;
const BOOLEANS = new Map([
  ['true', true],
  ['false', false],
]);
const CURSOR_LENGTH_MAX = 8_192;
const ORDERS: readonly Order[] = ['ASC', 'DESC'];
const ADDRESS = 'a hexadecimal address (0x and 40 digits)';
const TOKEN_ID = 'a token id (a whole number from 0 to 2^256 − 1, decimal or hexadecimal with 0x)';
/** Clients of the hosted API expect it. */
const INVALID_ADDRESS = '[C0005] Invalid address provided';
const INVALID_TOKEN_ID = '[C0005] Invalid TokenId provided';
const TOKEN_ID_TEXT = /^(?:\d{1,100}|0x[0-9a-f]{1,64})$/i;
const BLOCK = `a block number (a whole number from 0 to ${Number.MAX_SAFE_INTEGER})`;
const DATE =
  'a date (2024-01-31, 2024-01-31T12:00:00Z, 2024/01/31 12:00, 20240131, Jan 31, 2024, RFC 2822, Unix seconds or milliseconds)';

export function textParameter<T>(allowed: string, parse: (text: string) => T | undefined, sentence?: string) {
  return z.string().transform((text, ctx): T => {
    const value = parse(text);
    if (value !== undefined) return value;
    ctx.addIssue({ code: 'custom', message: `must be ${allowed}`, params: { allowed, given: text, sentence } });
    return z.NEVER;
  });
}

/** Schemas that validate, document and type parameters (docs/api/index.md#conventions). */
export function createParameters(options: ParameterOptions) {
  const blockBounds = {
    from_block: blockParameter('Lowest block, inclusive. Takes precedence over from_date.'),
    to_block: blockParameter('Highest block, inclusive. Takes precedence over to_date.'),
    from_date: dateParameter('Earliest time, inclusive. Ignored if from_block is set.'),
    to_date: dateParameter('Latest time, inclusive. Ignored if to_block is set.'),
  };
  return {
    address: addressParameter(),
    tokenId: tokenIdParameter(),
    chain: textParameter(CHAIN_ALLOWED, (text) => options.chains.find(text) ?? undefined)
      .optional()
      .openapi({ type: 'string', description: `Default: eth. Values: ${CHAIN_ALLOWED}.`, example: 'eth' }),
    addresses: addressesParameter(),
    addressesInOrder: addressListParameter('given').openapi(ADDRESS_LIST),
    blockBounds,
    fromBlock: blockBounds.from_block,
    toBlock: blockBounds.to_block,
    fromDate: blockBounds.from_date,
    toDate: blockBounds.to_date,
    limit: limitParameter(options.pageLimitDefault ?? PAGE_LIMIT_DEFAULT, options.pageLimitMax),
    order: orderParameter('Sort order by block number.'),
    cursor: cursorParameter(),
  };
}

export function orderParameter(description: string) {
  return textParameter('ASC or DESC', (text) => ORDERS.find((order) => order === text.toUpperCase()))
    .optional()
    .openapi({
      type: 'string',
      enum: ['ASC', 'DESC'],
      default: 'DESC',
      description,
    });
}

export function booleanParameter(documented: { readonly default: boolean; readonly description: string }) {
  return textParameter('true or false', (text) => BOOLEANS.get(text.toLowerCase()))
    .optional()
    .openapi({ type: 'boolean', ...documented });
}

export type Parameters = ReturnType<typeof createParameters>;

/** Any letter case in, lower case out. */
export function addressParameter(sentence = INVALID_ADDRESS) {
  return textParameter(ADDRESS, readAddress, sentence).openapi({
    type: 'string',
    pattern: '^0x[0-9a-fA-F]{40}$',
    example: '0xd8da6bf26964af9d7eed9e03e53415d37aa96045',
  });
}

export function tokenIdParameter() {
  const parse = (text: string): string | undefined => {
    const id = TOKEN_ID_TEXT.test(text) ? BigInt(text.toLowerCase()) : null;
    return id === null || id > MAX_UINT256 ? undefined : id.toString();
  };
  return textParameter(TOKEN_ID, parse, INVALID_TOKEN_ID).openapi({
    type: 'string',
    pattern: '^([0-9]+|0x[0-9a-fA-F]+)$',
    description: `Format: ${TOKEN_ID}.`,
    example: '7781',
  });
}

function addressListParameter(order: 'sorted' | 'given') {
  return z
    .array(z.string())
    .max(ARRAY_ITEMS_MAX, { error: `at most ${ARRAY_ITEMS_MAX} items` })
    .transform((texts, ctx): readonly Address[] => {
      const unique = new Set<Address>();
      for (const [index, text] of texts.entries()) {
        const address = readAddress(text);
        if (address === undefined)
          ctx.addIssue({
            code: 'custom',
            message: `must be ${ADDRESS}`,
            path: [index],
            params: { allowed: ADDRESS, given: text, sentence: INVALID_ADDRESS },
          });
        else unique.add(address);
      }
      return order === 'sorted' ? [...unique].sort() : [...unique];
    });
}

/** Each once, sorted. */
export function addressesParameter() {
  return addressListParameter('sorted').optional().openapi(ADDRESS_LIST);
}

const ADDRESS_LIST = {
  type: 'array',
  items: { type: 'string', pattern: '^0x[0-9a-fA-F]{40}$' },
  description: 'Also accepted as name[]=…, name[0]=… and as a comma-separated list.',
} as const;

export function blockParameter(description: string) {
  const parse = (text: string): number | undefined => {
    const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    return Number.isSafeInteger(value) ? value : undefined;
  };
  return textParameter(BLOCK, parse).optional().openapi({ type: 'integer', minimum: 0, description });
}

/** No example: the documentation page would prefill both bounds with the same moment. */
export function dateParameter(description: string) {
  return textParameter(DATE, readDate)
    .optional()
    .openapi({ type: 'string', description: `${description} Format: ${DATE}.` });
}

/** Each chain costs some statements. */
const CHAINS_MAX = 100;

export function chainsParameter(description: string) {
  return z
    .array(z.string())
    .max(CHAINS_MAX, { error: `at most ${CHAINS_MAX} items` })
    .optional()
    .openapi({ type: 'array', items: { type: 'string' }, description, example: ['eth'] });
}

export function limitParameter(standard: number, max: number) {
  const parse = (text: string): number | undefined =>
    /^\d{1,100}$/.test(text) && Number(text) >= 1 ? Math.min(Number(text), max) : undefined;
  return textParameter(`a whole number from 1 (above ${max} means ${max})`, parse)
    .optional()
    .openapi({
      type: 'integer',
      minimum: 1,
      default: Math.min(standard, max),
      description: `Rows per page. Higher values are lowered to ${max}. With a cursor, the limit of the cursor applies.`,
    });
}

function cursorParameter() {
  return textParameter('a cursor that this server gave', (text) =>
    text.length <= CURSOR_LENGTH_MAX ? { text: text === '' ? undefined : text } : undefined,
  )
    .transform((cursor) => cursor.text)
    .optional()
    .openapi({
      type: 'string',
      description: 'Cursor from the previous page. With it, other parameters can be omitted.',
    });
}

function readAddress(text: string): Address | undefined {
  return isAddress(text) ? parseAddress(text) : undefined;
}

function readDate(text: string): Date | undefined {
  try {
    return parseDate(text);
  } catch (error) {
    if (error instanceof ChainsteadError) return undefined;
    throw error;
  }
}

/** `name[]` and `name[0]`, the notations of PHP and qs. */
const BRACKETED = /^([^[\]]+)\[\d{0,6}\]$/;

/** Arrays: `a[]=x&a[]=y`, `a[0]=x&a[1]=y`, `a=x&a=y`, `a=x,y`. @param spellings accepted aliases */
export function querySchema<
  Scalars extends z.core.$ZodShape,
  Arrays extends z.core.$ZodShape = Record<never, never>,
>(scalars: Scalars, arrays?: Arrays, spellings: Readonly<Record<string, string>> = {}) {
  const arrayNames = new Set(Object.keys(arrays ?? {}));
  const shape = { ...scalars, ...arrays } as Scalars & Arrays;
  const normalize = (raw: unknown): unknown => {
    if (typeof raw !== 'object' || raw === null) return raw;
    const query: Record<string, unknown> = { ...raw };
    for (const [spelling, name] of Object.entries(spellings)) query[name] ??= query[spelling];
    return foldArrays(query, arrayNames);
  };
  return z.transform(normalize).pipe(z.object(shape));
}

/** `name[]=…`, `name[0]=…` and comma-separated texts become one list, for the parameters of a shape that are lists. */
export function foldLists(
  query: Readonly<Record<string, unknown>>,
  shape: Readonly<Record<string, z.ZodType>>,
): Readonly<Record<string, unknown>> {
  const names = Object.entries(shape).flatMap(([name, schema]) => (isList(schema) ? [name] : []));
  return foldArrays(query, new Set(names));
}

function isList(schema: z.core.$ZodType): boolean {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) return isList(schema.unwrap());
  return schema instanceof z.ZodPipe ? isList(schema.in) : schema instanceof z.ZodArray;
}

function foldArrays(
  raw: Readonly<Record<string, unknown>>,
  arrayNames: ReadonlySet<string>,
): Readonly<Record<string, unknown>> {
  if (arrayNames.size === 0) return raw;
  const folded: Record<string, unknown> = {};
  const lists = new Map<string, string[]>();
  for (const [key, value] of Object.entries(raw)) {
    const name = arrayNames.has(key) ? key : BRACKETED.exec(key)?.[1];
    if (name === undefined || !arrayNames.has(name)) {
      folded[key] = value;
      continue;
    }
    const items = (Array.isArray(value) ? value : [value]).flatMap((item: unknown) => String(item).split(','));
    lists.set(name, [...(lists.get(name) ?? []), ...items]);
  }
  for (const [name, items] of lists) folded[name] = items;
  return folded;
}
