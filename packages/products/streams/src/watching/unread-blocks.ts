/** Unreadable blocks match no stream, and are shown as quarantined work. */
import type { Chain } from '@chainstead/chains';
import { sql, type Transaction } from '@chainstead/db';
import type { WatchedBlock } from '@chainstead/sync';

export async function recordUnread(
  transaction: Transaction,
  chain: Chain,
  blocks: readonly WatchedBlock[],
): Promise<void> {
  const unread = blocks.flatMap(({ header, parts }) => {
    const logs = parts?.logs;
    return logs?.level === 'unavailable'
      ? [{ name: `block ${chain.key} ${header.number} streams unread`, reason: logs.reason }]
      : [];
  });
  if (unread.length === 0) return;
  await transaction.query(
    sql`INSERT INTO quarantined_work (name, crashes, reason) SELECT name, 0, reason FROM unnest(${unread.map(({ name }) => name)}::text[], ${unread.map(({ reason }) => reason)}::text[]) AS unread (name, reason)
     ON CONFLICT (name) DO UPDATE SET reason = excluded.reason, crashed_at = now()`,
  );
}

export async function forgetUnread(transaction: Transaction, chain: Chain, ancestor: number): Promise<void> {
  await transaction.query(
    sql`DELETE FROM quarantined_work WHERE reason IS NOT NULL AND starts_with(name, ${`block ${chain.key} `}) AND split_part(name, ' ', 3)::bigint > ${ancestor}`,
  );
}
