import type { Chain } from '@chainstead/chains';
import { type Hash, parseHash } from '@chainstead/core';
import type { LogsQuery } from '@chainstead/rpc';
import {
  atDepth,
  createScriptedChain,
  exampleChain,
  examplePool,
  servePortal,
  serveScriptedChain,
  TRANSFER_TOPIC,
} from '@chainstead/testkit';
import fc from 'fast-check';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { readLogs, recordedSleeps } from '../testing/read-all.ts';
import { openPortalSource } from './open-portal-source.ts';
import { LOG_FIELDS } from './portal-fields.ts';
import { logFilters, QUERY_BYTES_MAX, queryText } from './portal-query.ts';

const CHAIN: Chain = exampleChain({ id: 31_337 });
const RANGE = { from: 0, to: 60 };
const chain = createScriptedChain({ seed: 63, finalityDepth: 0, wallets: 10 });

beforeAll(() => {
  chain.mine(RANGE.to);
});

async function stage() {
  const node = await serveScriptedChain(chain);
  const server = await servePortal(chain, { faults: { pageBlocks: 7 } });
  const pool = await examplePool(CHAIN, node.url);
  const source = openPortalSource({ url: server.url, chain: CHAIN, clock: recordedSleeps().clock });
  onTestFinished(async () => {
    await Promise.all([source.close(), pool.close()]);
    await Promise.all([server.close(), node.close()]);
  });
  return { pool, source, server };
}

describe('logs of a Portal', () => {
  test('are those of eth_getLogs for every filter', async () => {
    const { pool, source } = await stage();
    const { logs: all } = await pool.getLogs({ range: RANGE, topics: [] });
    const topicsAt = (at: number) => [...new Set(all.flatMap(({ topics }) => topics[at] ?? []))];
    const someOf = (at: number) => fc.subarray(topicsAt(at), { minLength: 1, maxLength: 4 });
    const position = (at: number) => fc.option(someOf(at), { nil: null });
    const query = fc.record({
      range: fc
        .tuple(fc.nat(RANGE.to), fc.nat(RANGE.to))
        .map(([a, b]) => ({ from: Math.min(a, b), to: Math.max(a, b) })),
      topics: fc.option(someOf(0), { nil: [] }),
      indexed: fc.oneof(
        fc.constant([]),
        fc.tuple(position(1)),
        fc.tuple(position(1), position(2)),
        fc.tuple(position(1), position(2), position(3)),
      ),
      addresses: fc.subarray([...new Set(all.map(({ address }) => address))]),
    });
    await fc.assert(
      fc.asyncProperty(query, async (wanted) => {
        const expected = await pool.getLogs(wanted);
        const read = await readLogs(source, wanted);
        expect(read.logs).toEqual(expected.logs);
        expect(read.to).toBe(wanted.range.to);
      }),
      { numRuns: atDepth(200) },
    );
  });

  test('of a filter that nothing matches move on by the last line alone', async () => {
    const { source, server } = await stage();
    expect(await readLogs(source, { range: RANGE, topics: [parseHash(`0x${'ab'.repeat(32)}`)] })).toEqual({
      logs: [],
      to: RANGE.to,
    });
    expect(server.queries.length).toBe(9);
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
