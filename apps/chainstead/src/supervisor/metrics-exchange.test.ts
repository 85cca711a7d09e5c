import { describe, expect, it } from 'vitest';
import { createMetricsExchange, type MetricsPeer } from './metrics-exchange.ts';

const familyOf = (name: string) => ({ name, head: `# TYPE ${name} gauge\n`, lines: `${name} 1\n` });

describe('metrics exchange', () => {
  it('gives what every peer answers, each to its own question', async () => {
    const exchange = createMetricsExchange();
    const peer = (name: string, delayMs: number): MetricsPeer => ({
      send(message) {
        if (message.type !== 'metrics-request') throw new Error('Only questions are expected');
        const answer = { type: 'metrics-answer' as const, id: message.id, processes: [[familyOf(name)]] };
        setTimeout(() => exchange.receive(answer), delayMs);
      },
    });
    expect(await exchange.collect([peer('slow', 20), peer('fast', 1)])).toEqual([
      [familyOf('slow')],
      [familyOf('fast')],
    ]);
  });

  it('leaves out who does not answer in time', async () => {
    const exchange = createMetricsExchange(20);
    expect(await exchange.collect([{ send: () => undefined }])).toEqual([]);
  });
});
