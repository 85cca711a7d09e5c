import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { Indexed } from '@chainstead/data-api';
import { addressBytes, copyHex, copyText, type Database, hexText, rawSql, type Sql, sql } from '@chainstead/db';
import { tokenHash } from '../records/token-hash.ts';
import { traitKey } from '../records/trait.ts';
import type { TraitCensus } from './trait-census.ts';

/** Rows of one transaction. */
const ROWS_PER_PIECE = 10_000;
const KEY = ['token_address', 'chain_id', 'generation'];
const TABLES = ['nft_trait_tokens', 'nft_token_rarity', 'nft_trait_counts'];

/** Creates a separate generation for this attempt; null if there is nothing to compute. */
export async function beginGeneration(database: Database, chain: Chain, contract: Address): Promise<number | null> {
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

/** A generation that is being written. */
export interface NewGeneration {
  readonly chain: Chain;
  readonly contract: Address;
  readonly generation: number;
}

/** Writes the rows of a generation in batches. They are not visible to readers yet. */
export async function storeGeneration(database: Database, made: NewGeneration, census: TraitCensus): Promise<void> {
  await copyPieces(
    database,
    'nft_trait_counts',
    [...KEY, 'place', 'trait_key', 'trait_type', 'trait_value', 'count'],
    countLines(made, census),
  );
  await copyPieces(database, 'nft_token_rarity', [...KEY, 'token_id', 'rank', 'score'], rarityLines(made, census));
  await copyPieces(database, 'nft_trait_tokens', [...KEY, 'place', 'token_hash', 'token_id'], tokenLines(made, census));
}

function* countLines(made: NewGeneration, { traits }: TraitCensus): Generator<string> {
  for (const [place, { type, value, count }] of traits.entries()) {
    const key = copyHex(`0x${traitKey(made.contract, { type, value }).toString('hex')}`);
    yield [...keyOf(made), place, key, copyText(type), copyText(value), count].join('\t');
  }
}

function* rarityLines(made: NewGeneration, { tokens }: TraitCensus): Generator<string> {
  for (const { tokenId, rank, score } of tokens)
    if (rank !== null) yield [...keyOf(made), tokenId, rank, score].join('\t');
}

function* tokenLines(made: NewGeneration, { tokens }: TraitCensus): Generator<string> {
  for (const { tokenId, traits } of tokens) {
    const hash = copyHex(`0x${tokenHash({ address: made.contract, tokenId })}`);
    for (const place of traits) yield [...keyOf(made), place, hash, tokenId].join('\t');
  }
}

function keyOf({ chain, contract, generation }: NewGeneration): readonly [string, number, number] {
  return [copyHex(contract), chain.id, generation];
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
    if (piece.length > 0) await database.transaction((transaction) => transaction.copy(table, columns, piece));
    if (piece.length < ROWS_PER_PIECE) return;
  }
}

/** The facts of a whole generation. */
export interface GenerationFacts {
  /** Ids that it counts, and distinct traits that they have. */
  readonly tokens: number;
  readonly traits: number;
  /** The blocks that its ids come from. */
  readonly indexed: Indexed;
  /** Whether failed documents will be read again: then a better generation follows, for no key. */
  readonly isLacking: boolean;
}

/** Shows a generation instead of the previous one. @returns false if another attempt has taken over and will do so */
export async function showGeneration(
  database: Database,
  { chain, contract, generation }: NewGeneration,
  { tokens, traits, indexed, isLacking }: GenerationFacts,
): Promise<boolean> {
  const shown = await database.query(
    sql`UPDATE nft_collection_traits SET generation = ${generation}, tokens = ${tokens}, traits = ${traits}, computed_at = now(), indexed_from = ${indexed.fromBlock}, indexed_to = ${indexed.toBlock}, is_complete = ${indexed.complete},
       is_too_large = false, work = CASE WHEN ${isLacking}::boolean THEN 'improve' END, work_after = NULL, work_generation = NULL,
       requested_by = CASE WHEN ${isLacking}::boolean THEN '' ELSE requested_by END
     WHERE token_address = ${addressBytes(contract)} AND chain_id = ${chain.id} AND work = 'compute' AND work_generation = ${generation} RETURNING chain_id`,
  );
  return shown.length === 1;
}

/** Ends the work on a collection without a new generation. @param isTooLarge it has too many ids or traits */
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

/** Deletes the rows of an unused generation, if there is one. @returns whether there was */
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

/** Deletes a generation that is not shown. */
export async function deleteGeneration(
  database: Database,
  { chain, contract, generation }: NewGeneration,
): Promise<void> {
  const isOf = sql`token_address = ${addressBytes(contract)} AND chain_id = ${chain.id} AND generation = ${generation}`;
  for (const table of TABLES) await deletePieces(database, rawSql(table), isOf);
  await database.query(sql`DELETE FROM nft_trait_generations WHERE ${isOf}`);
}

async function deletePieces(database: Database, table: Sql, isOf: Sql): Promise<void> {
  for (;;) {
    const deleted = await database.query(
      sql`DELETE FROM ${table} WHERE ${isOf} AND ctid = ANY(ARRAY(SELECT ctid FROM ${table} WHERE ${isOf} LIMIT ${rawSql(ROWS_PER_PIECE)})) RETURNING 1 AS deleted`,
    );
    if (deleted.length < ROWS_PER_PIECE) return;
  }
}

/** Traits without a request for this long are deleted. */
const FORGOTTEN_AFTER = sql`interval '30 days'`;

/** Deletes the traits of collections without recent requests. */
export async function forgetUnrequestedTraits(database: Database, chain: Chain): Promise<void> {
  await database.query(
    sql`DELETE FROM nft_collection_traits WHERE chain_id = ${chain.id} AND asked_at < now() - ${FORGOTTEN_AFTER} AND work IS NULL`,
  );
}
