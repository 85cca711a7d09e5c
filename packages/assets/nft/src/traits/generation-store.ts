import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, copyHex, copyText, type Database, hexText, rawSql, sql } from '@chainstead/db';
import type { Indexed } from '@chainstead/pages';
import { tokenHash } from '../records/record-response.ts';
import { traitKey } from '../records/trait.ts';
import type { TraitCensus } from './trait-census.ts';

const ROWS_PER_PIECE = 10_000;
const KEY = ['token_address', 'chain_id', 'generation'];
const TABLES = ['nft_trait_tokens', 'nft_token_rarity', 'nft_trait_counts'];

export async function beginGeneration(
  database: Database,
  chain: Chain,
  contract: Address,
): Promise<number | null> {
  const [row] = await database.query<{ generation: number }>(
    sql`WITH at_work AS (
       SELECT token_address, chain_id FROM nft_collection_traits
       WHERE token_address = ${addressBytes(contract)} AND chain_id = ${chain.id} AND work = 'compute' FOR UPDATE
     ), made AS (
       INSERT INTO nft_trait_generations (token_address, chain_id, generation)
       SELECT token_address, chain_id, (extract(epoch FROM clock_timestamp()) * 1000)::bigint FROM at_work RETURNING generation
     )
     UPDATE nft_collection_traits AS traits SET work_generation = made.generation FROM made
     WHERE traits.token_address = ${addressBytes(contract)} AND traits.chain_id = ${chain.id} RETURNING made.generation`,
  );
  return row?.generation ?? null;
}

export interface NewGeneration {
  readonly chain: Chain;
  readonly contract: Address;
  readonly generation: number;
}

export async function storeGeneration(
  database: Database,
  made: NewGeneration,
  census: TraitCensus,
): Promise<void> {
  const { chain, contract, generation } = made;
  const line = (...values: readonly (string | number)[]) =>
    [copyHex(contract), chain.id, generation, ...values].join('\t');
  const counts = census.traits.entries().map(([place, { type, value, count }]) => {
    const key = copyHex(`0x${traitKey(contract, { type, value }).toString('hex')}`);
    return line(place, key, copyText(type), copyText(value), count);
  });
  await copyPieces(
    database,
    'nft_trait_counts',
    ['place', 'trait_key', 'trait_type', 'trait_value', 'count'],
    counts,
  );
  const ranks = census.tokens
    .values()
    .flatMap(({ tokenId, rank, score }) => (rank === null ? [] : [line(tokenId, rank, score)]));
  await copyPieces(database, 'nft_token_rarity', ['token_id', 'rank', 'score'], ranks);
  const tokens = census.tokens.values().flatMap(({ tokenId, traits }) => {
    const hash = copyHex(`0x${tokenHash({ address: contract, tokenId })}`);
    return traits.map((place) => line(place, hash, tokenId));
  });
  await copyPieces(database, 'nft_trait_tokens', ['place', 'token_hash', 'token_id'], tokens);
}

async function copyPieces(
  database: Database,
  table: string,
  columns: readonly string[],
  lines: Iterator<string>,
): Promise<void> {
  for (;;) {
    const piece: string[] = [];
    while (piece.length < ROWS_PER_PIECE) {
      const line = lines.next();
      if (line.done === true) break;
      piece.push(line.value);
    }
    if (piece.length > 0)
      await database.transaction((transaction) => transaction.copy(table, [...KEY, ...columns], piece));
    if (piece.length < ROWS_PER_PIECE) return;
  }
}

export interface GenerationFacts {
  readonly tokens: number;
  readonly traits: number;
  readonly indexed: Indexed;
  /** Failed documents will be read again: a better generation follows, for no key. */
  readonly isLacking: boolean;
}

/** @returns false if another attempt has taken over */
export async function showGeneration(
  database: Database,
  { chain, contract, generation }: NewGeneration,
  { tokens, traits, indexed, isLacking }: GenerationFacts,
): Promise<boolean> {
  const rows = await database.query(
    sql`UPDATE nft_collection_traits SET generation = ${generation}, tokens = ${tokens}, traits = ${traits}, computed_at = now(), indexed_from = ${indexed.fromBlock}, indexed_to = ${indexed.toBlock}, is_complete = ${indexed.complete},
       is_too_large = false, work = CASE WHEN ${isLacking}::boolean THEN 'improve' END, work_after = NULL, work_generation = NULL,
       requested_by = CASE WHEN ${isLacking}::boolean THEN '' ELSE requested_by END
     WHERE token_address = ${addressBytes(contract)} AND chain_id = ${chain.id} AND work = 'compute' AND work_generation = ${generation} RETURNING chain_id`,
  );
  // Invariant: NFT-TRAITS-WHOLE
  return rows.length === 1;
}

export async function endTraitsWork(
  database: Database,
  chain: Chain,
  contract: Address,
  { isTooLarge }: { readonly isTooLarge: boolean },
): Promise<void> {
  await database.query(
    sql`UPDATE nft_collection_traits SET is_too_large = ${isTooLarge}, work = NULL, work_after = NULL, work_generation = NULL
     WHERE token_address = ${addressBytes(contract)} AND chain_id = ${chain.id}`,
  );
}

export async function deleteOldGeneration(database: Database, chain: Chain): Promise<boolean> {
  const [old] = await database.query<{ contract: Address; generation: number }>(
    sql`SELECT ${hexText('made.token_address')} AS contract, made.generation
      FROM nft_trait_generations AS made LEFT JOIN nft_collection_traits AS traits USING (token_address, chain_id)
      WHERE made.chain_id = ${chain.id} AND made.generation IS DISTINCT FROM traits.generation
        AND made.generation IS DISTINCT FROM traits.work_generation LIMIT 1`,
  );
  if (old === undefined) return false;
  await deleteGeneration(database, { chain, ...old });
  return true;
}

export async function deleteGeneration(
  database: Database,
  { chain, contract, generation }: NewGeneration,
): Promise<void> {
  const isOf = sql`token_address = ${addressBytes(contract)} AND chain_id = ${chain.id} AND generation = ${generation}`;
  for (const table of TABLES.map(rawSql)) {
    const piece = sql`DELETE FROM ${table} WHERE ${isOf} AND ctid = ANY(ARRAY(SELECT ctid FROM ${table} WHERE ${isOf} LIMIT ${rawSql(ROWS_PER_PIECE)})) RETURNING 1 AS deleted`;
    while ((await database.query(piece)).length === ROWS_PER_PIECE);
  }
  await database.query(sql`DELETE FROM nft_trait_generations WHERE ${isOf}`);
}

const FORGOTTEN_AFTER = sql`interval '30 days'`;

export async function forgetUnrequestedTraits(database: Database, chain: Chain): Promise<void> {
  await database.query(
    sql`DELETE FROM nft_collection_traits WHERE chain_id = ${chain.id} AND asked_at < now() - ${FORGOTTEN_AFTER} AND work IS NULL`,
  );
}
