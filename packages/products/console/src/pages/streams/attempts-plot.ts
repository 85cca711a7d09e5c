import { type AttemptCount, countAttempts } from '@chainstead/streams';
import { html } from 'hono/html';
import type { ConsoleRoutes, ConsoleServices } from '../../console-page.ts';
import type { Html } from '../../layout/html.ts';
import { readId } from './webhooks.ts';

const MINUTE = 60;
const DAY = 86_400;
/** Seconds of a step: the narrowest with few steps is shown. */
const STEPS = [MINUTE, 5 * MINUTE, 15 * MINUTE] as const;
const STEPS_MAX = 100;

export function addAttemptsPlot(routes: ConsoleRoutes, { database, clock }: ConsoleServices): void {
  routes.view('/streams/:stream/attempts.json', async ({ parameter }) => {
    const streamId = readId(parameter('stream'), 'stream');
    const now = Math.floor(clock.now() / 1_000);
    const counts = await countAttempts(database, streamId, new Date((now - DAY) * 1_000));
    return { content: JSON.stringify(plotOf(counts, now)), type: 'application/json' };
  });
}

export function attemptsPlot(streamId: string): Html {
  return html`<div class="card plot" data-plot="/console/streams/${streamId}/attempts.json">The plot of the last day needs JavaScript. The table below lists the attempts.</div>`;
}

function plotOf(counts: readonly AttemptCount[], now: number) {
  const first = counts[0]?.minute ?? now;
  const step = STEPS.find((seconds) => now - first <= seconds * STEPS_MAX) ?? STEPS[2];
  const [from, to] = [Math.floor(first / step) - 1, Math.floor(now / step)];
  const times =
    counts.length === 0 ? [] : Array.from({ length: to - from + 1 }, (_, index) => (from + index) * step);
  const byStep = Map.groupBy(counts, ({ minute }) => Math.floor(minute / step) * step);
  const sums = (field: 'delivered' | 'failed') =>
    times.map((time) => (byStep.get(time) ?? []).reduce((sum, count) => sum + count[field], 0));
  return {
    labels: ['delivered', 'failed'],
    unit: `per ${step / MINUTE} min`,
    range: [from * step, now],
    times,
    values: [sums('delivered'), sums('failed')],
  };
}
