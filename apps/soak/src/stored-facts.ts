import type { Database } from '@chainstead/db';
import type { BookedFacts } from './webhook-book.ts';

/** A block whose rows are not what the chain has. */
export interface FactDifference {
  readonly block: string;
  readonly stored: string;
  readonly chain: string;
}

const LOW_32 = '4294967296';

/** By block number and hash: rows of a block that left the chain show as a block that it doesn't have. Rows have theirs from `blocks`. */
const STATEMENTS = {
  transfers: `SELECT block_number || ' ' || encode(block_hash, 'hex') AS block, count || ' ' || sum AS facts
    FROM (SELECT chain_id, block_number, count(*), sum(mod(value, ${LOW_32})) FROM erc20_transfers WHERE direction <> 1 GROUP BY 1, 2) AS stored
      LEFT JOIN blocks USING (chain_id, block_number)`,
  'NFT moves': `SELECT block_number || ' ' || encode(block_hash, 'hex') AS block, count(*) || ' ' || sum(mod(token_id, ${LOW_32})) AS facts
    FROM nft_transfers LEFT JOIN blocks USING (chain_id, block_number) GROUP BY block_number, block_hash`,
  sales: `SELECT block_number || ' ' || encode(block_hash, 'hex') AS block, count(*)::text AS facts
    FROM nft_trades LEFT JOIN blocks USING (chain_id, block_number) GROUP BY block_number, block_hash`,
} as const;

type Kind = keyof typeof STATEMENTS;

/** Compares what is stored with what the chain has, block by block. @returns differences by kind of row; empty when all are the same */
export async function compareStored(
  database: Database,
  chain: readonly BookedFacts[],
): Promise<Map<string, FactDifference[]>> {
  const differences = new Map<string, FactDifference[]>();
  for (const kind of Object.keys(STATEMENTS) as Kind[]) {
    const rows = await database.query<{ block: string; facts: string }>(STATEMENTS[kind]);
    const stored = new Map(rows.map(({ block, facts }) => [block, facts]));
    const expected = new Map(
      chain.flatMap((block): [string, string][] => {
        const facts = factsText(kind, block);
        return facts === null ? [] : [[`${block.number} ${block.hash.slice(2)}`, facts]];
      }),
    );
    const wrong = [...new Set([...stored.keys(), ...expected.keys()])]
      .filter((block) => stored.get(block) !== expected.get(block))
      .map((block) => ({ block, stored: stored.get(block) ?? 'nothing', chain: expected.get(block) ?? 'nothing' }));
    if (wrong.length > 0) differences.set(kind, wrong);
  }
  return differences;
}

/** As the statements write them; null for a block that leaves no rows. */
function factsText(kind: Kind, facts: BookedFacts): string | null {
  if (kind === 'transfers') return facts.transfers === 0 ? null : `${facts.transfers} ${facts.transferSum}`;
  if (kind === 'NFT moves') return facts.nftMoves === 0 ? null : `${facts.nftMoves} ${facts.nftSum}`;
  return facts.sales === 0 ? null : String(facts.sales);
}

/**
 * Wallets that were asked about, of which what they hold is not what the stored moves tell: of ERC-1155 their sum, of single things where the newest
 * went; the first few.
 */
export async function findWrongBalances(database: Database): Promise<string[]> {
  const rows = await database.query<{ row: string }>(
    `WITH sides AS (
       SELECT side.account, moved.chain_id, token_address, token_id, CASE WHEN kind IN (1, 2) THEN side.amount ELSE 0 END AS amount,
           CASE WHEN kind NOT IN (1, 2) THEN ARRAY[block_number, log_index, (side.amount > 0)::int] END AS place
         FROM nft_transfers AS moved CROSS JOIN LATERAL (VALUES (to_address, moved.amount), (from_address, -moved.amount)) AS side(account, amount)
           JOIN kept_subjects AS kept ON kept.chain_id = moved.chain_id AND kept.subject = side.account
         WHERE state = 'nft-wallet-tokens' AND built_to IS NULL AND side.account <> decode(repeat('00', 20), 'hex')),
     told AS (
       SELECT account, chain_id, token_address, token_id, sum(amount) + coalesce((max(place))[3], 0) AS amount FROM sides GROUP BY 1, 2, 3, 4),
     moves AS (SELECT * FROM told WHERE amount <> 0),
     kept AS (SELECT wallet, chain_id, token_address, token_id, amount FROM nft_wallet_tokens WHERE amount <> 0)
     (SELECT 'only in moves: ' || m::text AS row FROM (TABLE moves EXCEPT TABLE kept) AS m LIMIT 3)
     UNION ALL
     (SELECT 'only kept: ' || k::text FROM (TABLE kept EXCEPT TABLE moves) AS k LIMIT 3)`,
  );
  return rows.map(({ row }) => row);
}
