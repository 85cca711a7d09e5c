/** JSON Lines: a header with covered versions, coins, and their number, which shows truncation. */
import { createHash } from 'node:crypto';
import { type BlockRange, defineError } from '@chainstead/core';
import { z } from 'zod';
import { COIN_TYPE_LENGTH_MAX, type CoinRow } from '../coins/dataset.ts';
import { chainIdOf } from '../fullnode/ledger-info.ts';
import { MoveTypeError, parseMoveType } from '../move-type/parse-move-type.ts';
import type { AptosNetwork } from '../transaction.ts';

interface CoinsFileHeader {
  readonly network: AptosNetwork;
  /** Versions for which the file claims to contain every coin. */
  readonly covered: readonly BlockRange[];
}

export class CoinsFileError extends defineError(
  'COINS_FILE',
  (line: number, problem: string, cause?: unknown) => ({
    message: `Line ${line} of the coins file ${problem}`,
    facts: { line },
    remedy: 'Export the file again, then import it. No line of this file was imported',
    cause,
  }),
) {}

const FORMAT = 'chainstead-aptos-coins';
const FORMAT_VERSION = 1;
const NAME_LENGTH_MAX = 32;
const SYMBOL_LENGTH_MAX = 10;

const bytes32 = z.string().regex(/^0x[0-9a-f]{64}$/, 'is not 0x and 64 hexadecimal digits');
const version = z.number().int().nonnegative().max(Number.MAX_SAFE_INTEGER);
const textOf = (codePoints: number) =>
  z.string().refine((text) => [...text].length <= codePoints, `is longer than ${codePoints} characters`);

const headerLine = z.strictObject({
  format: z.literal(FORMAT),
  format_version: z.literal(FORMAT_VERSION),
  network: z.enum(['mainnet', 'testnet']),
  chain_id: z.number(),
  covered: z.array(z.tuple([version, version])),
});

const endLine = z.strictObject({ end: z.literal(true), coins: z.number().int().nonnegative() });

const coinLine = z.strictObject({
  coin_type_hash: bytes32,
  coin_type: textOf(COIN_TYPE_LENGTH_MAX),
  creator_address: bytes32,
  name: textOf(NAME_LENGTH_MAX),
  symbol: textOf(SYMBOL_LENGTH_MAX),
  decimals: z.number().int().min(0).max(255),
  supply_aggregator_table_handle: bytes32.nullable(),
  supply_aggregator_table_key: bytes32.nullable(),
  transaction_version: version,
  transaction_timestamp: z.iso.datetime(),
});

export type CoinLine = z.output<typeof coinLine>;

export function renderHeader({ network, covered }: CoinsFileHeader): string {
  return line({
    format: FORMAT,
    format_version: FORMAT_VERSION,
    network,
    chain_id: chainIdOf(network),
    covered: covered.map(({ from, to }) => [from, to]),
  });
}

export function renderCoin(coin: CoinLine): string {
  return line(coin);
}

export function renderEnd(coins: number): string {
  return line({ end: true, coins });
}

/** @throws CoinsFileError */
export function parseHeader(text: string): CoinsFileHeader {
  const { network, chain_id: chainId, covered } = parse(headerLine, text, 1);
  if (chainId !== chainIdOf(network)) throw new CoinsFileError(1, `gives ${network} the chain id ${chainId}`);
  const ranges = covered.map(([from, to]) => ({ from, to }));
  if (ranges.some(({ from, to }) => to < from))
    throw new CoinsFileError(1, 'covers a range that ends before it begins');
  return { network, covered: ranges };
}

/** The number of coins; null: the line is a coin. @throws CoinsFileError */
export function parseEnd(text: string, lineNumber: number): number | null {
  return text.startsWith('{"end":') ? parse(endLine, text, lineNumber).coins : null;
}

/** Checks all that needs no chain, such as hash and creator. @throws CoinsFileError */
export function parseCoin(text: string, lineNumber: number, network: AptosNetwork): CoinRow {
  const coin = parse(coinLine, text, lineNumber);
  const { supply_aggregator_table_handle: handle, supply_aggregator_table_key: key } = coin;
  if ((handle === null) !== (key === null))
    throw new CoinsFileError(lineNumber, 'has half of a supply aggregator');
  if ([...coin.coin_type].length < COIN_TYPE_LENGTH_MAX) requireConsistent(coin, lineNumber);
  const timestamp = new Date(coin.transaction_timestamp);
  if (timestamp.getUTCMilliseconds() !== 0)
    throw new CoinsFileError(lineNumber, 'has a timestamp with a fraction');
  return { ...coin, network, transaction_timestamp: timestamp };
}

function requireConsistent(coin: CoinLine, lineNumber: number): void {
  const hash = `0x${createHash('sha256').update(coin.coin_type).digest('hex')}`;
  if (hash !== coin.coin_type_hash)
    throw new CoinsFileError(lineNumber, 'has a hash that is not that of its coin type');
  if (creatorOf(coin.coin_type, lineNumber) !== coin.creator_address)
    throw new CoinsFileError(lineNumber, 'has a creator that is not that of its coin type');
}

function creatorOf(coinType: string, lineNumber: number): string | null {
  try {
    const type = parseMoveType(coinType);
    return type.kind === 'struct' ? type.address : null;
  } catch (error) {
    if (error instanceof MoveTypeError) throw new CoinsFileError(lineNumber, 'has a malformed coin type', error);
    throw error;
  }
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`;
}

function parse<Schema extends z.ZodType>(schema: Schema, text: string, lineNumber: number): z.output<Schema> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new CoinsFileError(lineNumber, 'is not JSON', error);
  }
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new CoinsFileError(lineNumber, `is wrong: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`.trim());
}
