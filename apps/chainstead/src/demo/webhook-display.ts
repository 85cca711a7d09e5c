import type { Clock } from '@chainstead/core';
import type { Output } from '../session/command-context.ts';
import { type DemoWebhook, describeWebhook } from './demo-stream.ts';

export interface WebhookDisplayOptions {
  readonly output: Output;
  readonly clock: Clock;
  readonly listsAll: boolean;
  readonly signal: AbortSignal;
}

const SUMMARY_INTERVAL_MS = 30_000;
const COLUMNS_DEFAULT = 80;
const CLEAR_LINE = '\r\u001b[2K';

export function createWebhookDisplay(options: WebhookDisplayOptions): (webhook: DemoWebhook) => void {
  const { output, clock, listsAll, signal } = options;
  const isInPlace = output.isTTY === true && !listsAll;
  let count = 0;
  let shownAt = Number.NEGATIVE_INFINITY;
  signal.addEventListener('abort', () => isInPlace && count > 0 && output.write('\n'), { once: true });
  return (webhook) => {
    if (signal.aborted) return;
    count += 1;
    const line = describeWebhook(webhook);
    if (listsAll) output.write(`${line}\n`);
    else if (isInPlace)
      output.write(CLEAR_LINE + `${count}: ${line}`.slice(0, (output.columns ?? COLUMNS_DEFAULT) - 1));
    else if (clock.now() - shownAt >= SUMMARY_INTERVAL_MS) {
      output.write(`${line} (${count} so far)\n`);
      shownAt = clock.now();
    }
  };
}
