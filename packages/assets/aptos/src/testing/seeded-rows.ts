/** Inserts rows directly into tables, for tests of the routes. */
import { type Database, sql } from '@chainstead/db';
import type { AptosNetwork } from '../transaction.ts';

export interface SeededCoin {
  readonly version: number;
  readonly symbol: string;
  readonly name?: string;
  /** Number of the creator's address. */
  readonly creator?: number;
  readonly network?: AptosNetwork;
}

/** `0x` and 64 hexadecimal digits. */
export function addressOf(number: number): string {
  return `0x${number.toString(16).padStart(64, '0')}`;
}

/** Inserts coins whose types and hashes follow from version, symbol and network. */
export async function seedCoins(database: Database, coins: readonly SeededCoin[]): Promise<void> {
  await database.query(
    sql`INSERT INTO aptos_coins (network, coin_type_hash, coin_type, creator_address, name, symbol, decimals, transaction_version, transaction_timestamp)
     SELECT network, sha256(convert_to(type, 'UTF8')), type, decode(creator, 'hex'), name, symbol, 8, version, to_timestamp(1600000000 + version)
     FROM (SELECT *, '0xa::m' || version || '::' || encode(convert_to(symbol, 'UTF8'), 'hex') AS type
       FROM unnest(${coins.map(({ network }) => network ?? 'mainnet')}::text[], ${coins.map(({ version }) => version)}::bigint[], ${coins.map(({ symbol }) => symbol)}::text[], ${coins.map(({ name, symbol }) => name ?? `Name of ${symbol}`)}::text[], ${coins.map(({ creator }) => addressOf(creator ?? 10).slice(2))}::text[]) AS given(network, version, symbol, name, creator)) AS typed`,
  );
}

/** Records a range of versions as indexed. */
export async function seedRange(
  database: Database,
  dataset: string,
  first: number,
  last: number,
  network: AptosNetwork = 'mainnet',
): Promise<void> {
  await database.query(
    sql`INSERT INTO aptos_ranges (network, dataset, first_version, last_version) VALUES (${network}, ${dataset}, ${first}, ${last})`,
  );
}
