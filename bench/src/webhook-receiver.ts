import { fileURLToPath } from 'node:url';
import type { ReceivedCount, ReceiverReport } from './bare/webhook-receiver.ts';
import { startProcess } from './measured-process.ts';

/** A webhook receiver in a separate process. */
export interface WebhookReceiver {
  readonly url: string;
  /** Returns the count since the last call, and starts again at zero. */
  takeCount(): Promise<ReceivedCount>;
}

/** Starts the receiver, does the work, and stops it. */
export async function withWebhookReceiver<T>(work: (receiver: WebhookReceiver) => Promise<T>): Promise<T> {
  const receiver = startProcess({
    args: [fileURLToPath(new URL('./bare/webhook-receiver.ts', import.meta.url))],
    env: {},
  });
  try {
    const { control, url } = await receiver.line((line): ReceiverReport | undefined =>
      line.startsWith('{') ? JSON.parse(line) : undefined,
    );
    return await work({
      url,
      async takeCount() {
        const response = await fetch(control, { method: 'POST' });
        return (await response.json()) as ReceivedCount;
      },
    });
  } finally {
    await receiver.stop();
  }
}
