import { describe, expect, it } from 'vitest';
import { memoryInMetrics, treeMemory } from './memory.ts';

describe('memoryInMetrics', () => {
  it('reads what each role holds', () => {
    const text = [
      '# TYPE process_resident_memory_bytes gauge',
      'process_resident_memory_bytes{role="api"} 300',
      'process_resident_memory_bytes{role="ingest"} 200',
      'nodejs_heap_size_used_bytes{role="api"} 100',
      'chainstead_http_requests_total{method="GET",role="api"} 7',
    ].join('\n');
    expect([...memoryInMetrics(text)]).toEqual([
      ['api', { rss: 300, heap: 100 }],
      ['ingest', { rss: 200, heap: null }],
    ]);
  });
});

describe.runIf(process.platform === 'linux')('treeMemory', () => {
  it('counts a process with those that it started, and nothing of one that is gone', async () => {
    const own = await treeMemory(process.pid);
    expect(own?.rss).toBeGreaterThan(10_000_000);
    expect(own?.rss).toBeLessThan(10_000_000_000);
    expect(await treeMemory(2 ** 22 + 1)).toBeNull();
  });
});
