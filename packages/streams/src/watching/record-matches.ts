import type { Chain } from '@chainstead/chains';
import { sql, type Transaction } from '@chainstead/db';
import type { WatchedBlock } from '@chainstead/sync';
import type { MatchKey } from '../delivery/delivery.ts';
import { deliveryId } from '../delivery-id.ts';
import type { Match } from '../matching/match.ts';
import { type BlockItem, itemsOf, referenceText } from '../matching/stored-match.ts';
import { addDeliveries } from './outbox-rows.ts';

/** A match with the parts of its block that are stored with it. */
interface MatchToRecord {
  readonly block: { readonly header: Pick<WatchedBlock['header'], 'number' | 'hash' | 'timestamp'> };
  readonly match: Match;
}

/** Rows per statement. */
const ROWS_PER_STATEMENT = 2_000;
/** Texts of a statement, unless it has one row: they exist several times on their way to Postgres. Characters. */
const LENGTH_PER_STATEMENT = 4_194_304;

/**
 * Writes matches, each with its unconfirmed webhook. If a reorg restores a block, its matches become valid again,
 * dropped webhooks are due again, and an unsent removal notice is dropped.
 * @returns the number of webhooks that became due.
 */
export async function recordMatches(
  transaction: Transaction,
  chain: Pick<Chain, 'id'>,
  matches: readonly MatchToRecord[],
): Promise<number> {
  let due = 0;
  await writeMatches(transaction, chain, matches, async (keys, columns) => {
    if (await insertMatches(transaction, columns)) await dropRemovals(transaction, keys);
    due += await addDeliveries(transaction, 'unconfirmed', keys);
  });
  return due;
}

/**
 * Stores the items that matches show, each once per block, then calls `write` for parts of the matches. Statements have
 * a bounded size, and their number does not grow with streams times bytes.
 * @param write gets the values of `INSERT_MATCHES`
 */
export async function writeMatches(
  transaction: Transaction,
  chain: Pick<Chain, 'id'>,
  matches: readonly MatchToRecord[],
  write: (keys: readonly MatchKey[], columns: readonly unknown[]) => Promise<void>,
): Promise<void> {
  const lengths = await storeItems(transaction, chain, matches);
  function* rows() {
    for (const { block, match } of matches) {
      const { number: blockNumber, hash: blockHash, timestamp } = block.header;
      const key: MatchKey = { chainId: chain.id, blockNumber, blockHash, streamId: match.streamId };
      yield { key, timestamp, match, text: referenceText(match), length: lengths.of(block.header, match) };
    }
  }
  for (const part of statementParts(rows()))
    await write(
      part.map(({ key }) => key),
      [
        part.map(({ key }) => key.chainId),
        part.map(({ key }) => key.blockNumber),
        part.map(({ key }) => key.streamId),
        part.map(({ key }) => key.blockHash.slice(2)),
        part.map(({ timestamp }) => timestamp),
        part.map(({ text }) => text).join('\n'),
        part.map(({ match }) => match.logs.length),
        part.map(({ match }) => match.transactions.length),
        part.map(({ match }) => match.internalTransactions.length),
        part.map(({ length }) => Math.min(length, INTEGER_MAX)),
      ],
    );
}

const INTEGER_MAX = 2_147_483_647;

/**
 * Inserts the matches of `writeMatches` as $1 to $10; append the conflict clause. Texts are one value: pg scans each
 * character of array elements for quotes. JSON has no line breaks.
 */
export const INSERT_MATCHES = `INSERT INTO stream_matches AS kept
    (chain_id, block_number, stream_id, block_hash, block_timestamp, matched, logs, txs, txs_internal, length)
  SELECT chain_id, block_number, stream_id, decode(block_hash, 'hex'), to_timestamp(seconds), matched, logs, txs, internal, length
  FROM unnest($1::bigint[], $2::bigint[], $3::uuid[], $4::text[], $5::float8[], $7::int[], $8::int[], $9::int[], $10::int[])
    WITH ORDINALITY AS made(chain_id, block_number, stream_id, block_hash, seconds, logs, txs, internal, length, row)
  JOIN string_to_table($6, E'\\n') WITH ORDINALITY AS text(matched, row) USING (row)`;

interface ItemRow extends BlockItem {
  readonly header: MatchToRecord['block']['header'];
}

/** @returns the length of a match's items, in characters */
async function storeItems(transaction: Transaction, chain: Pick<Chain, 'id'>, matches: readonly MatchToRecord[]) {
  const lengths = new Map<string, number>();
  const nameOf = ({ hash }: ItemRow['header'], { kind, place }: Pick<BlockItem, 'kind' | 'place'>): string =>
    `${hash} ${kind} ${place}`;
  for (const part of statementParts(newItems()))
    await transaction.query(STORE_ITEMS, [
      chain.id,
      part.map(({ header }) => header.number),
      part.map(({ header }) => header.hash.slice(2)),
      part.map(({ kind }) => kind),
      part.map(({ place }) => place),
      part.map(({ text }) => text).join('\n'),
    ]);

  function* newItems(): Generator<ItemRow> {
    for (const { block, match } of matches)
      for (const { render, ...item } of itemsOf(match)) {
        const name = nameOf(block.header, item);
        if (lengths.has(name)) continue;
        const text = render();
        lengths.set(name, text.length);
        yield { ...item, text, header: block.header };
      }
  }

  return {
    of: (header: ItemRow['header'], match: Match): number =>
      itemsOf(match).reduce((sum, item) => sum + (lengths.get(nameOf(header, item)) ?? 0), 0),
  };
}

/** Existing items are touched, so that pruning does not delete them before the new match is visible. */
const STORE_ITEMS = `INSERT INTO stream_items (chain_id, block_number, block_hash, kind, place, item)
  SELECT $1, block_number, decode(block_hash, 'hex'), kind, place, item
  FROM unnest($2::bigint[], $3::text[], $4::smallint[], $5::int[])
    WITH ORDINALITY AS made(block_number, block_hash, kind, place, row)
  JOIN string_to_table($6, E'\\n') WITH ORDINALITY AS text(item, row) USING (row)
  ORDER BY block_number, block_hash, kind, place
  ON CONFLICT (chain_id, block_number, block_hash, kind, place) DO UPDATE SET used_at = now()`;

/** Divides rows into the parts of one statement each. Texts are made when their part is. */
function* statementParts<Row extends { readonly text: string }>(rows: Iterable<Row>): Generator<Row[]> {
  let part: Row[] = [];
  let length = 0;
  for (const row of rows) {
    if (part.length > 0 && (part.length >= ROWS_PER_STATEMENT || length + row.text.length > LENGTH_PER_STATEMENT)) {
      yield part;
      part = [];
      length = 0;
    }
    part.push(row);
    length += row.text.length;
  }
  if (part.length > 0) yield part;
}

/** @returns whether any existed before. */
async function insertMatches(transaction: Transaction, columns: readonly unknown[]): Promise<boolean> {
  const [row] = await transaction.query<{ back: boolean | null }>(
    `WITH written AS (
       ${INSERT_MATCHES}
       ON CONFLICT (chain_id, block_number, stream_id, block_hash) DO UPDATE SET removed_at = NULL
       RETURNING xmax <> 0 AS back
     )
     SELECT bool_or(back) AS back FROM written`,
    columns,
  );
  return row?.back === true;
}

async function dropRemovals(transaction: Transaction, keys: readonly MatchKey[]): Promise<void> {
  await transaction.query(
    sql`UPDATE stream_deliveries SET status = 'dropped' WHERE id = ANY (${keys.map((key) => deliveryId('removed', key))}::uuid[]) AND status = 'pending'`,
  );
}
