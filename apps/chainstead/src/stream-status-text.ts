import type { StreamStatuses } from '@chainstead/streams';

/** For a person: one text, or none where there is no stream. */
export function renderStreamStatus({ counts, webhooksPending, failing }: StreamStatuses): string[] {
  const states = Object.entries(counts).map(([status, count]) => `${count} ${status}`);
  if (states.length === 0) return [];
  const reasons = failing.map(({ id, tag, status, message }) => `    ${id} (${tag}) ${status}: ${message}`);
  const waiting = webhooksPending === 1 ? '1 webhook pending' : `${webhooksPending} webhooks pending`;
  return [`${['streams', `  ${states.join(', ')}; ${waiting}`, ...reasons].join('\n')}\n`];
}

/** For a program. */
export function streamStatusJson({
  counts,
  webhooksPending,
  failing,
}: StreamStatuses): Readonly<Record<string, unknown>> {
  return {
    active: counts.active ?? 0,
    paused: counts.paused ?? 0,
    error: counts.error ?? 0,
    terminated: counts.terminated ?? 0,
    webhooks_pending: webhooksPending,
    failing,
  };
}
