import { getOrCompute } from '@chainstead/core';
import { sql, type Transaction } from '@chainstead/db';
import type { Attempt } from './delivery.ts';

type Sums = Record<'delivered' | 'failed' | 'logs' | 'txs' | 'txsInternal', number>;

/** Contents count once, failed attempts each (docs/api/streams-reference.md#statistics). */
export async function addStatistics(
  transaction: Transaction,
  attempts: readonly Attempt[],
  firstDelivered: ReadonlySet<string>,
): Promise<void> {
  const byStream = new Map<string, Sums>();
  for (const attempt of attempts) {
    const { streamId, match } = attempt.delivery;
    const sums = getOrCompute(byStream, streamId, () => ({
      delivered: 0,
      failed: 0,
      logs: 0,
      txs: 0,
      txsInternal: 0,
    }));
    if (!attempt.outcome.success) sums.failed += 1;
    if (!firstDelivered.has(attempt.id)) continue;
    sums.delivered += 1;
    sums.logs += match?.logs ?? 0;
    sums.txs += match?.txs ?? 0;
    sums.txsInternal += match?.txsInternal ?? 0;
  }
  const entries = [...byStream].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const column = (read: (sums: Sums) => number): number[] => entries.map(([, sums]) => read(sums));
  await transaction.query(
    sql`INSERT INTO stream_stats AS kept (stream_id, webhooks_delivered, webhooks_failed, logs_processed, txs_processed,
       txs_internal_processed)
     SELECT * FROM unnest(${entries.map(([streamId]) => streamId)}::uuid[], ${column(({ delivered }) => delivered)}::bigint[], ${column(({ failed }) => failed)}::bigint[], ${column(({ logs }) => logs)}::bigint[], ${column(({ txs }) => txs)}::bigint[], ${column(({ txsInternal }) => txsInternal)}::bigint[])
     ON CONFLICT (stream_id) DO UPDATE SET
       webhooks_delivered = kept.webhooks_delivered + excluded.webhooks_delivered,
       webhooks_failed = kept.webhooks_failed + excluded.webhooks_failed,
       logs_processed = kept.logs_processed + excluded.logs_processed,
       txs_processed = kept.txs_processed + excluded.txs_processed,
       txs_internal_processed = kept.txs_internal_processed + excluded.txs_internal_processed,
       updated_at = now()`,
  );
}
