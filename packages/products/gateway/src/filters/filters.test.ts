import { sql } from '@chainstead/db';
import {
  createScratchDatabase,
  createScriptedChain,
  type ScratchDatabase,
  serveScriptedChain,
} from '@chainstead/testkit';
import fc from 'fast-check';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type LiveGateway, OTHER_KEY, startLiveGateway } from '../testing/live-gateway.ts';
import { keysOf, ReplayedLogs, type ReportedLog } from '../testing/replayed-logs.ts';
import { openRpcSocket } from '../testing/rpc-socket.ts';

const PATIENCE = { timeout: 30_000, interval: 10 };
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

let scratch: ScratchDatabase;
let chainId = 7_300_000;

beforeAll(async () => {
  scratch = await createScratchDatabase();
  return () => scratch.drop();
});

/** A chain, and API processes that share a database. */
async function stage(processes = 1, logRangeMax = 10_000, filterCharacters = 16_000_000) {
  chainId += 1;
  const source = createScriptedChain({ seed: chainId, chainId, finalityDepth: null });
  source.mine(20);
  const node = await serveScriptedChain(source);
  onTestFinished(() => node.close());
  const gateways: LiveGateway[] = [];
  for (let index = 0; index < processes; index += 1)
    gateways.push(
      await startLiveGateway({
        database: scratch.database,
        chainId,
        urls: [node.url],
        logRangeMax,
        filterCharacters,
      }),
    );
  const [gateway] = gateways;
  if (gateway === undefined) throw new Error('A stage has a process');
  return { source, node, gateway, gateways };
}

async function canonicalLogs(gateway: LiveGateway, filter: object): Promise<ReportedLog[]> {
  return (await gateway.call('eth_getLogs', [
    { ...filter, fromBlock: '0x0', toBlock: 'latest' },
  ])) as ReportedLog[];
}

async function changes(gateway: LiveGateway, id: unknown): Promise<ReportedLog[]> {
  return (await gateway.call('eth_getFilterChanges', [id])) as ReportedLog[];
}

describe('a log filter', () => {
  test('whatever the chain does and whichever process answers, its changes give exactly the canonical logs', async () => {
    const moves = fc.array(
      fc.oneof(
        { weight: 3, arbitrary: fc.record({ mine: fc.integer({ min: 1, max: 4 }) }) },
        {
          weight: 2,
          arbitrary: fc.record({ depth: fc.integer({ min: 1, max: 5 }), length: fc.integer({ min: 1, max: 6 }) }),
        },
        { weight: 3, arbitrary: fc.record({ poll: fc.constantFrom(0, 1) }) },
      ),
      { minLength: 1, maxLength: 10 },
    );
    const { source, gateway, gateways } = await stage(2);
    const filters = [{}, { address: source.tokens[0]?.address }, { topics: [[TRANSFER]] }];
    await fc.assert(
      fc.asyncProperty(
        moves,
        fc.constantFrom(...filters),
        fc.constantFrom(0, 1),
        async (script, filter, last) => {
          const replayed = new ReplayedLogs(await canonicalLogs(gateway, filter));
          const id = await gateway.call('eth_newFilter', [filter]);
          const poll = async (by: number): Promise<void> => {
            for (const log of await changes(gateways[by] ?? gateway, id)) replayed.take(log);
          };
          for (const move of script) {
            if ('mine' in move) source.mine(move.mine);
            else if ('depth' in move) source.reorg(move.depth, Math.max(move.depth, move.length));
            else await poll(move.poll);
          }
          source.mine(1);
          await expect
            .poll(async () => {
              await poll(last);
              return replayed.keys;
            }, PATIENCE)
            .toEqual(keysOf(await canonicalLogs(gateway, filter)));
          expect(replayed.faults).toEqual([]);
          expect(await gateway.call('eth_uninstallFilter', [id])).toBe(true);
        },
      ),
      { numRuns: 20 },
    );
  });

  test('tells with the first poll what the newest block holds, also when another process knew it first', async () => {
    const { source, gateway, gateways } = await stage(2);
    const id = await gateway.call('eth_newFilter', [{}]);
    for (let round = 0; round < 4; round += 1) {
      source.mine(1);
      const expected = source.blockAt(source.head)?.receipts.flatMap(({ logs }) => logs as ReportedLog[]) ?? [];
      expect(keysOf(await changes(gateways[round % 2] ?? gateway, id))).toEqual(keysOf(expected));
    }
    expect(await changes(gateway, id)).toEqual([]);
  });

  test('begins with the newest block, also when the process that makes it has not read that block yet', async () => {
    const { source, gateway } = await stage();
    await gateway.call('eth_newFilter', [{}]);
    for (let round = 0; round < 4; round += 1) {
      source.reorg(3, 5);
      const id = await gateway.call('eth_newFilter', [{}]);
      expect(await changes(gateway, id)).toEqual([]);
    }
  });

  test('is told many blocks after a pause of its client, part by part', async () => {
    const { source, gateway, gateways } = await stage(2);
    const before = await canonicalLogs(gateway, {});
    const id = await gateway.call('eth_newFilter', [{}]);
    source.mine(300);
    const replayed = new ReplayedLogs(before);
    // The second process has not followed the chain since then.
    for (const log of await changes(gateways[1] ?? gateway, id)) replayed.take(log);
    expect(Number(replayed.keys.at(-1)?.split('/')[0])).toBeLessThanOrEqual(220);
    for (const log of await changes(gateways[1] ?? gateway, id)) replayed.take(log);
    expect(replayed.faults).toEqual([]);
    expect(replayed.keys).toEqual(keysOf(await canonicalLogs(gateway, {})));
  });

  test('is told block by block where more would be too much for one response', async () => {
    const { source, gateway } = await stage(1, 10_000, 1);
    const before = await canonicalLogs(gateway, {});
    const id = await gateway.call('eth_newFilter', [{}]);
    source.mine(5);
    const replayed = new ReplayedLogs(before);
    const sizes: number[] = [];
    for (let polls = 0; polls < 5; polls += 1) {
      const logs = await changes(gateway, id);
      sizes.push(new Set(logs.map(({ blockNumber }) => blockNumber)).size);
      for (const log of logs) replayed.take(log);
    }
    expect(Math.max(...sizes)).toBe(1);
    expect(replayed.faults).toEqual([]);
    expect(replayed.keys).toEqual(keysOf(await canonicalLogs(gateway, {})));
  });

  test('gives all its logs as eth_getLogs does, within the same bounds', async () => {
    const { gateway, source } = await stage(1, 30);
    const filter = { fromBlock: '0x1', toBlock: 'latest', address: source.tokens[0]?.address };
    const id = await gateway.call('eth_newFilter', [filter]);
    expect(await gateway.call('eth_getFilterLogs', [id])).toEqual(await gateway.call('eth_getLogs', [filter]));
    source.mine(30);
    await expect(gateway.call('eth_getFilterLogs', [id])).rejects.toThrow('may span 30 blocks');
  });

  test.each([
    [{ topics: ['0x1'] }, 'topics'],
    [{ blockHash: `0x${'0'.repeat(64)}` }, 'blockHash'],
    [{ fromBlock: '0x5', toBlock: '0x4' }, 'invalid block range'],
  ])('%j is refused: %s', async (filter, message) => {
    const { gateway } = await stage();
    await expect(gateway.call('eth_newFilter', [filter])).rejects.toThrow(message);
  });
});

test('a block filter tells the hashes of new blocks, those of a new branch included', async () => {
  const { source, gateway } = await stage();
  const id = await gateway.call('eth_newBlockFilter');
  const reported: unknown[] = [];
  const hashes = (from: number) => source.blocksIn({ from, to: source.head }).map(({ hash }) => hash);
  source.mine(2);
  const first = hashes(21);
  expect(await gateway.call('eth_getFilterChanges', [id])).toEqual(first);
  source.reorg(3, 4);
  const second = hashes(20);
  await expect
    .poll(async () => {
      reported.push(...((await gateway.call('eth_getFilterChanges', [id])) as unknown[]));
      return reported;
    }, PATIENCE)
    .toEqual(second);
  await expect(gateway.call('eth_getFilterLogs', [id])).rejects.toThrow('filter not found');
});

describe('a filter', () => {
  test('is found by its key alone, over HTTP and through sockets, until it is removed', async () => {
    const { gateway } = await stage();
    const client = await openRpcSocket(gateway.webSocketUrl);
    const id = await client.call('eth_newFilter', [{}]);
    expect(await gateway.call('eth_getFilterChanges', [id])).toEqual([]);
    expect(await client.call('eth_getFilterChanges', [id])).toEqual([]);
    await expect(gateway.call('eth_getFilterChanges', [id], OTHER_KEY)).rejects.toThrow('filter not found');
    expect(await gateway.call('eth_uninstallFilter', [id], OTHER_KEY)).toBe(false);
    expect(await gateway.call('eth_uninstallFilter', [id])).toBe(true);
    expect(await gateway.call('eth_uninstallFilter', [id])).toBe(false);
    await expect(client.call('eth_getFilterChanges', [id])).rejects.toThrow('filter not found');
  });

  test('that nobody asked for during five minutes is forgotten', async () => {
    const { gateway } = await stage();
    const [old, young] = [await gateway.call('eth_newFilter', [{}]), await gateway.call('eth_newFilter', [{}])];
    await scratch.database.query(
      sql`UPDATE gateway_filters SET polled_at = now() - interval '5 minutes' WHERE id = ${String(old)}`,
    );
    await expect(gateway.call('eth_getFilterChanges', [old])).rejects.toThrow('filter not found');
    expect(await gateway.call('eth_getFilterChanges', [young])).toEqual([]);
    await gateway.call('eth_newBlockFilter');
    expect(await scratch.database.query(sql`SELECT id FROM gateway_filters WHERE id = ${String(old)}`)).toEqual(
      [],
    );
  });

  test('is one of 500 of its key, however many are asked for at once', async () => {
    const { gateway } = await stage();
    await scratch.database.query(sql`DELETE FROM gateway_filters`);
    await scratch.database.query(
      sql`INSERT INTO gateway_filters (id, key_id, chain_id, kind, subject, reported)
       SELECT 'f' || n, 'config:1', 1, 'blocks', '{}', '[]' FROM generate_series(1, 490) AS n`,
    );
    const requested = await Promise.allSettled(
      Array.from({ length: 30 }, () => gateway.call('eth_newBlockFilter')),
    );
    const [row] = await scratch.database.query<{ filters: number }>(
      sql`SELECT count(*)::int AS filters FROM gateway_filters WHERE key_id = 'config:1'`,
    );
    expect(row?.filters).toBeLessThanOrEqual(500);
    expect(requested.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: expect.objectContaining({ message: 'The key has too many filters: uninstall some' }),
    });
    await expect(gateway.call('eth_newBlockFilter', [], OTHER_KEY)).resolves.toMatch(/^0x[0-9a-f]{32}$/);
  });
});
