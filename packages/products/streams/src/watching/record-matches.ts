import type { Chain } from '@chainstead/chains';
import { hexText, type Sql, sql, type Transaction } from '@chainstead/db';
import type { WatchedBlock } from '@chainstead/sync';
import type { DeliveryKind, MatchKey } from '../delivery/outbox.ts';
import { deliveryId } from '../delivery-id.ts';
import { type BlockItem, type ItemPlace, itemsOf, type Match, referenceText } from '../matching/match.ts';

export interface MatchToRecord {
  readonly block: { readonly header: Pick<WatchedBlock['header'], 'number' | 'hash' | 'timestamp'> };
  readonly match: Match;
}

const ROWS_PER_STATEMENT = 2_000;
/** For several rows: texts exist several times on their way to Postgres. */
const LENGTH_PER_STATEMENT = 4_194_304;

/** If a reorg restores a block, dropped webhooks are due again. @returns webhooks due */
export async function recordMatches(
  transaction: Transaction,
  chain: Pick<Chain, 'id'>,
  matches: readonly MatchToRecord[],
): Promise<number> {
  let due = 0;
  await writeMatches(transaction, chain, matches, async (keys, insert) => {
    if (await insertMatches(transaction, insert))
      await transaction.query(
        sql`UPDATE stream_deliveries SET status = 'dropped' WHERE id = ANY (${keys.map((key) => deliveryId('removed', key))}::uuid[]) AND status = 'pending'`,
      );
    due += await addDeliveries(transaction, 'unconfirmed', keys);
  });
  return due;
}

/**
 * The number of statements does not grow with streams times bytes.
 * @param write gets the INSERT of a part; appends the conflict clause
 */
export async function writeMatches(
  transaction: Transaction,
  chain: Pick<Chain, 'id'>,
  matches: readonly MatchToRecord[],
  write: (keys: readonly MatchKey[], insert: Sql) => Promise<void>,
): Promise<void> {
  const lengths = await storeItems(transaction, chain, matches);
  function* rows(): Generator<KeyedMatch> {
    for (const { block, match } of matches) {
      const { number: blockNumber, hash: blockHash, timestamp } = block.header;
      const key: MatchKey = { chainId: chain.id, blockNumber, blockHash, streamId: match.streamId };
      yield { key, timestamp, match, text: referenceText(match), length: lengths.of(block.header, match) };
    }
  }
  for (const part of statementParts(rows()))
    await write(
      part.map(({ key }) => key),
      insertStatement(part),
    );
}

interface KeyedMatch {
  readonly key: MatchKey;
  readonly timestamp: number;
  readonly match: Match;
  readonly text: string;
  readonly length: number;
}

const INTEGER_MAX = 2_147_483_647;

/** Texts are one value: pg scans array elements for quotes. JSON has no line breaks. */
function insertStatement(part: readonly KeyedMatch[]): Sql {
  const column = <T>(read: (row: KeyedMatch) => T): T[] => part.map(read);
  return sql`INSERT INTO stream_matches AS kept
    (chain_id, block_number, stream_id, block_hash, block_timestamp, matched, logs, txs, txs_internal, length)
  SELECT chain_id, block_number, stream_id, decode(block_hash, 'hex'), to_timestamp(seconds), matched, logs, txs, internal, length
  FROM unnest(${column(({ key }) => key.chainId)}::bigint[], ${column(({ key }) => key.blockNumber)}::bigint[],
      ${column(({ key }) => key.streamId)}::uuid[], ${column(({ key }) => key.blockHash.slice(2))}::text[], ${column(({ timestamp }) => timestamp)}::float8[],
      ${column(({ match }) => match.logs.length)}::int[], ${column(({ match }) => match.transactions.length)}::int[],
      ${column(({ match }) => match.internalTransactions.length)}::int[], ${column(({ length }) => Math.min(length, INTEGER_MAX))}::int[])
    WITH ORDINALITY AS made(chain_id, block_number, stream_id, block_hash, seconds, logs, txs, internal, length, row)
  JOIN string_to_table(${column(({ text }) => text).join('\n')}, E'\\n') WITH ORDINALITY AS text(matched, row) USING (row)`;
}

type StoredItem = BlockItem & MatchToRecord['block'];

async function storeItems(transaction: Transaction, chain: Pick<Chain, 'id'>, matches: readonly MatchToRecord[]) {
  const lengths = new Map<string, number>();
  const nameOf = ({ hash }: StoredItem['header'], { kind, place }: ItemPlace): string =>
    `${hash} ${kind} ${place}`;
  for (const part of statementParts(newItems())) await transaction.query(storeItemsStatement(chain, part));

  function* newItems(): Generator<StoredItem> {
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
    of: (header: StoredItem['header'], match: Match): number =>
      itemsOf(match).reduce((sum, item) => sum + (lengths.get(nameOf(header, item)) ?? 0), 0),
  };
}

/** Touches existing items: pruning must not delete them before the match is visible. */
function storeItemsStatement(chain: Pick<Chain, 'id'>, items: readonly StoredItem[]): Sql {
  const column = <T>(read: (item: StoredItem) => T): T[] => items.map(read);
  return sql`INSERT INTO stream_items (chain_id, block_number, block_hash, kind, place, item)
  SELECT ${chain.id}::bigint, block_number, decode(block_hash, 'hex'), kind, place, item
  FROM unnest(${column(({ header }) => header.number)}::bigint[], ${column(({ header }) => header.hash.slice(2))}::text[],
      ${column(({ kind }) => kind)}::smallint[], ${column(({ place }) => place)}::int[])
    WITH ORDINALITY AS made(block_number, block_hash, kind, place, row)
  JOIN string_to_table(${column(({ text }) => text).join('\n')}, E'\\n') WITH ORDINALITY AS text(item, row) USING (row)
  ORDER BY block_number, block_hash, kind, place
  ON CONFLICT (chain_id, block_number, block_hash, kind, place) DO UPDATE SET used_at = now()`;
}

function* statementParts<Row extends { readonly text: string }>(rows: Iterable<Row>): Generator<Row[]> {
  let part: Row[] = [];
  let length = 0;
  for (const row of rows) {
    if (
      part.length > 0 &&
      (part.length >= ROWS_PER_STATEMENT || length + row.text.length > LENGTH_PER_STATEMENT)
    ) {
      yield part;
      part = [];
      length = 0;
    }
    part.push(row);
    length += row.text.length;
  }
  if (part.length > 0) yield part;
}

/** @returns whether any existed before */
async function insertMatches(transaction: Transaction, insert: Sql): Promise<boolean> {
  const [row] = await transaction.query<{ back: boolean | null }>(
    sql`WITH written AS (
       ${insert}
       ON CONFLICT (chain_id, block_number, stream_id, block_hash) DO UPDATE SET removed_at = NULL
       RETURNING xmax <> 0 AS back
     )
     SELECT bool_or(back) AS back FROM written`,
  );
  return row?.back === true;
}

/** Dropped rows become due again under the same id. @returns how many became due */
export async function addDeliveries(
  transaction: Transaction,
  kind: DeliveryKind,
  matches: readonly MatchKey[],
): Promise<number> {
  if (matches.length === 0) return 0;
  const column = <T>(read: (match: MatchKey) => T): T[] => matches.map(read);
  const [row] = await transaction.query<{ due: number }>(
    sql`WITH due AS (
       INSERT INTO stream_deliveries AS kept (id, stream_id, chain_id, block_number, block_hash, kind)
       SELECT id, stream_id, chain_id, block_number, decode(block_hash, 'hex'), ${kind}
       FROM unnest(${column((match) => deliveryId(kind, match))}::uuid[], ${column(({ streamId }) => streamId)}::uuid[], ${column(({ chainId }) => chainId)}::bigint[], ${column(({ blockNumber }) => blockNumber)}::bigint[], ${column(({ blockHash }) => blockHash.slice(2))}::text[])
         AS made(id, stream_id, chain_id, block_number, block_hash)
       ORDER BY id
       ON CONFLICT (id) DO UPDATE SET status = 'pending', due_at = excluded.due_at WHERE kept.status = 'dropped'
       RETURNING 1
     )
     SELECT count(*) AS due FROM due`,
  );
  return row?.due ?? 0;
}

export const MATCH_KEY_COLUMNS = sql`m.stream_id, m.chain_id, m.block_number,
  ${hexText('m.block_hash')} AS "blockHash"`;
