import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { Counter, createMetricsRegistry, Gauge, Histogram, type MetricFamilies } from './metrics.ts';

describe('createMetricsRegistry', () => {
  it('writes what prom-client writes, also after values changed', async () => {
    const [ours, theirs] = [createMetricsRegistry(), new Registry()];
    const both = [ours, theirs].map((registry) => {
      const registers = [registry];
      const requests = new Counter({
        name: 'requests_total',
        help: 'a\\b\nc',
        labelNames: ['chain', 'text'],
        registers,
      });
      const heights = new Gauge({ name: 'height', help: 'Height', labelNames: ['chain'], registers });
      const plain = new Gauge({ name: 'plain', help: 'No labels', registers });
      const seconds = new Histogram({
        name: 'seconds',
        help: 'Time',
        labelNames: ['chain'],
        buckets: [0.1, 1],
        registers,
      });
      return () => {
        requests.inc({ chain: 'eth', text: 'a "b"\\\n' }, 2);
        heights.set({ chain: 'eth' }, 1.5);
        heights.set({ chain: 'base' }, Number.POSITIVE_INFINITY);
        plain.inc(3);
        seconds.observe({ chain: 'eth' }, 0.5);
      };
    });
    for (let round = 0; round < 2; round += 1) {
      for (const change of both) change();
      expect(await ours.metrics()).toBe(await theirs.metrics());
      // Nothing changed.
      expect(await ours.metrics()).toBe(await theirs.metrics());
    }
    for (const registry of [ours, theirs]) {
      registry.getSingleMetric('seconds')?.reset();
      registry.getSingleMetric('requests_total')?.reset();
    }
    expect(await ours.metrics()).toBe(await theirs.metrics());
    // One series of several, which must be rewritten in place.
    for (const change of both) change();
    for (const registry of [ours, theirs]) registry.removeSingleMetric('plain');
    expect(await ours.metrics()).toBe(await theirs.metrics());
  });

  it('labels every metric with the role', async () => {
    const registry = createMetricsRegistry({ role: 'ingest' });
    new Counter({ name: 'seen_total', help: 'Seen', registers: [registry] }).inc(2);
    expect(await registry.metrics()).toContain('seen_total{role="ingest"} 2');
  });

  it('names the process where a role has several', async () => {
    const registry = createMetricsRegistry({ role: 'api', process: 'api-2' });
    new Counter({ name: 'seen_total', help: 'Seen', registers: [registry] }).inc(2);
    expect(await registry.metrics()).toContain('seen_total{role="api",process="api-2"} 2');
  });

  it('answers for other processes too, each metric once with one help text', async () => {
    const ingest = createMetricsRegistry({ role: 'ingest' });
    new Gauge({ name: 'shared', help: 'Both have it', labelNames: ['chain'], registers: [ingest] }).set(
      { chain: 'eth' },
      3,
    );
    // As it arrives across the process boundary.
    const others = async (): Promise<MetricFamilies[]> => [JSON.parse(JSON.stringify(await ingest.families()))];
    const api = createMetricsRegistry({ role: 'api', otherProcesses: others });
    new Gauge({ name: 'shared', help: 'Both have it', labelNames: ['chain'], registers: [api] }).set(
      { chain: 'eth' },
      4,
    );
    const text = await api.metrics();
    expect(text).toContain('shared{chain="eth",role="ingest"} 3');
    expect(text).toContain('shared{chain="eth",role="api"} 4');
    expect(text.match(/# HELP shared /g)).toHaveLength(1);
  });
});
