import type { WithPgClient } from '@dataplan/pg';

/** Newest blocks that a subscriber has, by number. */
export type KnownBlocks = ReadonlyMap<number, string>;

/** Blocks of which a subscriber gets rows next. */
export interface NextBlocks {
  readonly fromBlock: number;
  readonly toBlock: number;
  /** Whether the subscriber had other blocks from `fromBlock` on, which a reorg replaced. */
  readonly isReplacement: boolean;
}

/** Blocks to look back for the last common one. Deeper reorgs need approval by the operator. */
const KNOWN_MAX = 256;

/** Returns the newest blocks up to a number. @param upTo null: up to the newest one */
export async function readKnownBlocks(
  withClient: WithPgClient,
  chainId: string,
  upTo: number | null,
): Promise<KnownBlocks> {
  const { rows } = await withClient(null, (client) =>
    client.query<BlockRow>({ text: KNOWN_SQL, values: [chainId, upTo, KNOWN_MAX] }),
  );
  return new Map(rows.map(({ number, hash }) => [Number(number), hash]));
}

/**
 * Returns the blocks after the newest known one that is still valid; null if there are none.
 * @param last newest block that the subscriber has
 * @param blocksMax at most so many
 */
export async function readNextBlocks(
  withClient: WithPgClient,
  chainId: string,
  { known, last, blocksMax }: { readonly known: KnownBlocks; readonly last: number; readonly blocksMax: number },
): Promise<NextBlocks | null> {
  const oldest = Math.min(last, ...known.keys());
  const { rows } = await withClient(null, (client) =>
    client.query<BlockRow & { newest: string }>({ text: SINCE_SQL, values: [chainId, oldest, last] }),
  );
  const current = new Map(rows.map(({ number, hash }) => [Number(number), hash]));
  const newest = Number(rows[0]?.newest ?? -1);
  const common = commonBlock(known, current, last);
  const fromBlock = common + 1;
  const isReplacement = common < last;
  if (newest < fromBlock && !isReplacement) return null;
  return { fromBlock, toBlock: Math.max(common, Math.min(newest, common + blocksMax)), isReplacement };
}

/** Without a known block, the subscriber has none that could be replaced. */
function commonBlock(known: KnownBlocks, current: KnownBlocks, last: number): number {
  const replaced = [...known].filter(([number, hash]) => current.get(number) !== hash).map(([number]) => number);
  if (replaced.length === 0) return last;
  const firstReplaced = Math.min(...replaced);
  const valid = [...known.keys()].filter((number) => number < firstReplaced);
  return valid.length === 0 ? firstReplaced - 1 : Math.max(...valid);
}

interface BlockRow {
  readonly number: string;
  readonly hash: string;
}

const KNOWN_SQL = `
SELECT block_number::text AS number, block_hash AS hash FROM analytics.blocks
WHERE chain_id = $1::bigint AND block_number <= coalesce($2::bigint, 9223372036854775807) ORDER BY block_number DESC LIMIT $3::int`;

/** One row without a block, if there are no blocks in the range: the newest block is in each row. */
const SINCE_SQL = `
WITH newest AS (SELECT max(block_number) AS block_number FROM analytics.blocks WHERE chain_id = $1::bigint)
SELECT newest.block_number::text AS newest, block.block_number::text AS number, block.block_hash AS hash
FROM newest LEFT JOIN (
  SELECT block_number, block_hash FROM analytics.blocks WHERE chain_id = $1::bigint AND block_number BETWEEN $2::bigint AND $3::bigint
) AS block ON true`;
