import { describe, expect, it } from 'vitest';
import { Counter, createMetricsRegistry, Gauge, type MetricFamilies } from './metrics.ts';

describe('createMetricsRegistry', () => {
  it('labels every metric with the role', async () => {
    const registry = createMetricsRegistry({ role: 'ingest' });
    new Counter({ name: 'seen_total', help: 'Seen', registers: [registry] }).inc(2);
    expect(await registry.metrics()).toContain('seen_total{role="ingest"} 2');
  });

  it('answers for other processes too, each metric once with one help text', async () => {
    const ingest = createMetricsRegistry({ role: 'ingest' });
    new Gauge({ name: 'shared', help: 'Both have it', labelNames: ['chain'], registers: [ingest] }).set(
      { chain: 'eth' },
      3,
    );
    // As it arrives after the way over the process boundary.
    const others = async (): Promise<MetricFamilies[]> => [JSON.parse(JSON.stringify(await ingest.getMetricsAsJSON()))];
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
