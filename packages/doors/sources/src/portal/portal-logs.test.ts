import { type Hash, parseHash } from '@chainstead/core';
import type { LogsQuery } from '@chainstead/rpc';
import { TRANSFER_TOPIC } from '@chainstead/testkit';
import { describe, expect, test } from 'vitest';
import { readLogs } from '../testing/read-all.ts';
import { scriptedChain, sourceOver } from '../testing/source-stage.ts';
import { LOG_FIELDS, logFilters, QUERY_BYTES_MAX, queryText } from './portal-client.ts';

const RANGE = { from: 100, to: 132 };

describe('logs of a Portal', () => {
  test('of a filter that nothing matches move on by the last line alone', async () => {
    const { source, server } = await sourceOver('portal', scriptedChain(), { pageBlocks: 7 });
    expect(await readLogs(source, { range: RANGE, topics: [parseHash(`0x${'ab'.repeat(32)}`)] })).toEqual({
      logs: [],
      to: RANGE.to,
    });
    expect(server.queries.length).toBe(5);
  });
});

describe('a query', () => {
  const addresses = (count: number) =>
    Array.from({ length: count }, (_, at) => `0x${String(at).padStart(40, '0')}`);

  test('leaves out empty lists, which would match nothing', () => {
    const query: Omit<LogsQuery, 'range'> = {
      topics: [],
      indexed: [null, [TRANSFER_TOPIC as Hash]],
      addresses: [],
    };
    expect(logFilters(query)).toEqual([{ topic2: [TRANSFER_TOPIC] }]);
  });

  test('splits many addresses over filters, and reads all of too many', () => {
    expect(logFilters({ topics: [TRANSFER_TOPIC], addresses: addresses(2_500) }).length).toBe(3);
    const tooMany = logFilters({ topics: [TRANSFER_TOPIC], addresses: addresses(6_000) });
    expect(tooMany).toEqual([{ topic0: [TRANSFER_TOPIC] }]);
    const most = logFilters({ topics: [TRANSFER_TOPIC], addresses: addresses(5_300) });
    expect(most.length).toBe(6);
    expect(queryText({ fields: LOG_FIELDS, logs: most }, RANGE).length).toBeLessThan(QUERY_BYTES_MAX);
  });
});
