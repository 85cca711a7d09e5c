import { fileURLToPath } from 'node:url';
import type { ReceivedCount, ReceiversPlan, ReceiversReport } from './bare/webhook-receivers.ts';
import { startProcess } from './measured-process.ts';

/** Receivers of webhooks in a process of their own. */
export interface WebhookReceivers {
  /** In the order of their delays. */
  readonly urls: readonly string[];
  /** What came to all of them since it was last asked; counting begins anew. */
  takeCount(): Promise<ReceivedCount>;
}

/** Starts a receiver for each delay of its answers, does the work, and ends them. */
export async function withWebhookReceivers<T>(
  plan: ReceiversPlan,
  work: (receivers: WebhookReceivers) => Promise<T>,
): Promise<T> {
  const receivers = startProcess({
    args: [fileURLToPath(new URL('./bare/webhook-receivers.ts', import.meta.url)), JSON.stringify(plan)],
    env: {},
  });
  try {
    const { control, urls } = await receivers.line((line): ReceiversReport | undefined =>
      line.startsWith('{') ? JSON.parse(line) : undefined,
    );
    return await work({
      urls,
      async takeCount() {
        const answer = await fetch(control, { method: 'POST' });
        return (await answer.json()) as ReceivedCount;
      },
    });
  } finally {
    await receivers.stop();
  }
}
