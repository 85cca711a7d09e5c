import type { Chain } from '@chainstead/chains';
import type { Address, Hex } from '@chainstead/core';
import { addressBytes, type Database, hexBytes, sql } from '@chainstead/db';
import { committedBlock, type StateBlock } from '@chainstead/node-reads/requests';
import { lockChainCommits } from '@chainstead/sync/commit-retry';
import type { ProxyForm } from './proxy-forms.ts';

export interface ImplementationRow {
  readonly proxy: Address;
  readonly selector: Hex | null;
  readonly fromBlock: number;
  /** Null: until a change is announced. */
  readonly untilBlock: number | null;
  readonly implementation: Address | null;
  readonly beacon: Address | null;
  readonly form: ProxyForm;
}

/** Comes first, so that later announcements and reorgs are noticed. Null: nothing is indexed. */
export async function beginReading(database: Database, chain: Chain, contracts: readonly Address[]) {
  return database.transaction(async (transaction) => {
    // A concurrent commit would not see the rows.
    await lockChainCommits(transaction, chain);
    const select: Database['select'] = (statement) => transaction.query(statement);
    const block = await committedBlock({ select, selectLasting: select }, chain);
    if (block !== null)
      await transaction.query(
        sql`INSERT INTO contract_implementations (proxy, chain_id, selector, from_block, known_by)
         SELECT DISTINCT requested.proxy, ${chain.id}::bigint, ''::bytea, ${block.number}::bigint, 'unread' FROM unnest(${contracts.map(addressBytes)}::bytea[]) AS requested (proxy) ORDER BY 1
         ON CONFLICT (proxy, chain_id, selector, from_block) DO UPDATE SET read_at = excluded.read_at`,
      );
    return block;
  });
}

/** Stores nothing after a reorg, and only the earlier state after an announced change. */
export async function saveImplementations(
  database: Database,
  chain: Chain,
  block: StateBlock,
  rows: readonly ImplementationRow[],
): Promise<void> {
  await database.transaction(async (transaction) => {
    await lockChainCommits(transaction, chain);
    await transaction.query(
      sql`INSERT INTO contract_implementations (proxy, chain_id, selector, from_block, until_block, implementation, beacon, known_by)
       SELECT given.proxy, begun.chain_id, given.selector, given.from_block, least(given.until_block, begun.until_block), given.implementation, given.beacon,
         given.known_by
       FROM unnest(${rows.map(({ proxy }) => addressBytes(proxy))}::bytea[], ${rows.map(({ selector }) => hexBytes(selector ?? '0x'))}::bytea[], ${rows.map(({ fromBlock }) => fromBlock)}::bigint[], ${rows.map(({ untilBlock }) => untilBlock)}::bigint[], ${rows.map(({ implementation }) => bytesOrNull(implementation))}::bytea[], ${rows.map(({ beacon }) => bytesOrNull(beacon))}::bytea[], ${rows.map(({ form }) => form)}::text[])
         AS given (proxy, selector, from_block, until_block, implementation, beacon, known_by)
       JOIN contract_implementations AS begun
         ON begun.proxy = given.proxy AND begun.chain_id = ${chain.id} AND begun.selector = ''::bytea AND begun.from_block = ${block.number}
       WHERE EXISTS (SELECT FROM blocks WHERE chain_id = ${chain.id} AND block_number = ${block.number} AND block_hash = ${hexBytes(block.hash)})
       ON CONFLICT (proxy, chain_id, selector, from_block) DO UPDATE SET until_block = excluded.until_block,
         implementation = excluded.implementation, beacon = excluded.beacon, known_by = excluded.known_by, read_at = excluded.read_at`,
    );
  });
}

function bytesOrNull(address: Address | null): Buffer | null {
  return address === null ? null : addressBytes(address);
}
