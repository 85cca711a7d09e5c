import { sql, type Transaction } from '@chainstead/db';
import { SUCCESS_RATE_MAX, SUCCESS_RATE_MIN } from '../records/webhook-health.ts';
import type { Attempt } from './delivery.ts';

export interface UnhealthyWebhook {
  readonly webhookUrl: string;
  readonly successRate: number;
  readonly errorMessage: string;
}

export function nextSuccessRate(rate: number, { success }: { readonly success: boolean }): number {
  return Math.max(0, Math.min(SUCCESS_RATE_MAX, rate + (success ? 1 : -1)));
}

/** In order. @returns URLs with a failure and a rate that is too low */
export async function judgeWebhooks(
  transaction: Transaction,
  attempts: readonly Attempt[],
): Promise<UnhealthyWebhook[]> {
  const byUrl = Map.groupBy(attempts, ({ delivery }) => delivery.webhookUrl);
  const failing = [...byUrl].filter(([, tries]) => tries.some(({ outcome }) => !outcome.success));
  await countSuccesses(transaction, byUrl, new Set(failing.map(([url]) => url)));
  return failing.length === 0 ? [] : countFailures(transaction, new Map(failing));
}

/** A URL that always responds has no row and takes no lock. */
async function countSuccesses(
  transaction: Transaction,
  byUrl: ReadonlyMap<string, readonly Attempt[]>,
  failing: ReadonlySet<string>,
): Promise<void> {
  const entries = [...byUrl].filter(([url]) => !failing.has(url));
  if (entries.length === 0) return;
  await transaction.query(
    sql`UPDATE webhook_health h SET success_rate = least(${SUCCESS_RATE_MAX}, h.success_rate + answered.times), updated_at = now()
     FROM unnest(${entries.map(([url]) => url)}::text[], ${entries.map(([, tries]) => tries.length)}::int[]) AS answered(webhook_url, times)
     WHERE h.webhook_url = answered.webhook_url AND h.success_rate < ${SUCCESS_RATE_MAX}`,
  );
}

async function countFailures(
  transaction: Transaction,
  byUrl: ReadonlyMap<string, readonly Attempt[]>,
): Promise<UnhealthyWebhook[]> {
  const urls = [...byUrl.keys()].toSorted();
  await transaction.query(
    sql`INSERT INTO webhook_health (webhook_url) SELECT * FROM unnest(${urls}::text[]) ON CONFLICT DO NOTHING`,
  );
  const rows = await transaction.query<{ webhookUrl: string; rate: number }>(
    sql`SELECT webhook_url, success_rate AS rate FROM webhook_health
     WHERE webhook_url = ANY (${urls}::text[]) ORDER BY webhook_url FOR UPDATE`,
  );
  const judged = rows.map(({ webhookUrl, rate }) => {
    const tries = byUrl.get(webhookUrl) ?? [];
    const successRate = tries.reduce((at, { outcome }) => nextSuccessRate(at, outcome), rate);
    const errorMessage = tries.findLast(({ outcome }) => !outcome.success)?.outcome.errorMessage ?? '';
    return { webhookUrl, successRate, errorMessage };
  });
  await transaction.query(
    sql`UPDATE webhook_health h SET success_rate = new.rate, updated_at = now()
     FROM unnest(${judged.map(({ webhookUrl }) => webhookUrl)}::text[], ${judged.map(({ successRate }) => successRate)}::int[]) AS new(webhook_url, rate) WHERE h.webhook_url = new.webhook_url`,
  );
  return judged.filter(({ successRate }) => successRate < SUCCESS_RATE_MIN);
}
