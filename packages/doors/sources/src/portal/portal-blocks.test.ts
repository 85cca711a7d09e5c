import { proveBlock, proveTransactions } from '@chainstead/proof';
import type { SourceFaultSettings } from '@chainstead/testkit';
import { describe, expect, onTestFinished, test } from 'vitest';
import { faultOf, readBlocks } from '../testing/read-all.ts';
import { CHAIN, poolOver, scriptedChain, sourceOver } from '../testing/source-stage.ts';
import { openPortalSource } from './open-portal-source.ts';

const BLOCKS = 40;

describe('blocks of a Portal', () => {
  test('are those of a node', async () => {
    const chain = scriptedChain();
    const pool = await poolOver(chain);
    const { source } = await sourceOver('portal', chain);
    const [range] = await source.available(new AbortController().signal);
    expect(range).toEqual({ from: 100, to: chain.finalized });
    const blocks = await readBlocks(source, range ?? { from: 0, to: 0 });
    expect(blocks.length).toBe(BLOCKS - 8 + 1);
    for (const { block, receipts, lacks, isCanonical } of blocks) {
      const whole = await pool.getWholeBlock(block.header.number, { transactions: true });
      expect(block).toEqual(whole?.value.block);
      expect(receipts).toEqual(whole?.value.receipts);
      expect(lacks).toEqual([]);
      expect(isCanonical).toBe(false);
      expect(proveBlock({ ...block, receipts }, CHAIN)).toEqual({ level: 'receipts', headerHash: 'verified' });
      const transactions = block.transactions ?? [];
      expect(proveTransactions({ header: block.header, transactions, receipts }, CHAIN)).toEqual({
        level: 'receipts',
      });
    }
  });

  test.each<[string, Partial<SourceFaultSettings>]>([
    ['in short pages', { pageBlocks: 3 }],
    ['in gzip', { encoding: 'gzip' }],
    ['in gzip without its header', { encoding: 'unnamed-gzip' }],
    ['in zstd', { encoding: 'zstd' }],
    ['after 204 once', { emptyRate: 1, times: 1 }],
    ['in streams that end after a line', { cut: { rate: 1, afterLines: 2, where: 'line' } }],
    ['in streams that end inside a line', { cut: { rate: 1, afterLines: 2, where: 'inside' } }],
    ['over broken connections', { cut: { rate: 0.5, afterLines: 5, where: 'connection' } }],
    ['in truncated gzip', { encoding: 'gzip', truncateRate: 0.5 }],
  ])('come %s', async (_, faults) => {
    const chain = scriptedChain();
    const { source } = await sourceOver('portal', chain, faults);
    const blocks = await readBlocks(source, { from: 100, to: 120 });
    expect(blocks.map(({ block }) => block.header.hash)).toEqual(
      chain.blocksIn({ from: 100, to: 120 }).map(({ hash }) => hash),
    );
  });

  test('end early where the portal has no more', async () => {
    const { source, sleeps } = await sourceOver('portal', scriptedChain());
    expect((await readBlocks(source, { from: 130, to: 200 })).at(-1)?.block.header.number).toBe(132);
    expect(sleeps).toEqual([]);
  });

  test('that stay away below the finalized head make the source busy', async () => {
    const { source, sleeps, server } = await sourceOver('portal', scriptedChain(), { servedTo: 110 });
    expect(await faultOf(readBlocks(source, { from: 111, to: 120 }))).toMatchObject({
      fault: 'busy',
      retry_after_ms: 60_000,
    });
    expect(sleeps).toEqual([1_000, 2_000, 4_000, 8_000]);
    expect(server.requests['GET /datasets/testkit/finalized-head']).toBe(1);
  });

  test('without columns of the archive lack what can not be proven without', async () => {
    const missingColumns = ['transactions.accessList', 'transactions.logsBloom', 'blocks.size'];
    const { source, server } = await sourceOver('portal', scriptedChain(), { missingColumns });
    const blocks = await readBlocks(source, { from: 100, to: 110 });
    expect(blocks.length).toBe(11);
    // Empty access lists follow from the hashes.
    expect(blocks.flatMap(({ lacks }) => lacks)).toEqual([]);
    for (const { block, receipts } of blocks) {
      expect(proveBlock({ ...block, receipts }, CHAIN).level).toBe('receipts');
      expect(block.header.raw).not.toHaveProperty('size');
    }
    expect(server.queries.length).toBe(6);

    server.faults.set({ missingColumns: ['transactions.r', 'blocks.stateRoot', 'transactions.status'] });
    const [, ...others] = await readBlocks(source, { from: 109, to: 120 });
    for (const { block, lacks } of others)
      expect(lacks).toEqual([
        { part: 'header', field: 'stateRoot' },
        ...(block.transactionHashes.length === 0
          ? []
          : [
              { part: 'transactions', field: 'r of transaction 0' },
              { part: 'receipts', field: 'root of transaction 0' },
            ]),
      ]);
  });

  test('have at the next request the columns that the first ones lack', async () => {
    const faults = { pageBlocks: 5, missingColumns: ['transactions.r', 'blocks.stateRoot'] };
    const { source, server } = await sourceOver('portal', scriptedChain(), faults);
    const lacking: number[] = [];
    const stream = source.readBlocks(
      { from: 100, to: 114 },
      { transactions: true },
      new AbortController().signal,
    );
    for await (const { block, lacks } of stream) {
      if (lacks.length > 0) lacking.push(block.header.number);
      if (block.header.number === 104) server.faults.set({ missingColumns: [] });
    }
    expect(lacking).toEqual([100, 101, 102, 103, 104]);
  });

  test('wait for the limit of requests', async () => {
    const { server } = await sourceOver('portal', scriptedChain(), { pageBlocks: 5 });
    const calls: number[] = [];
    const limiter = {
      take: (count: number) => {
        calls.push(count);
        return calls.length === 2 ? Promise.reject(new Error('no more')) : null;
      },
    };
    const source = openPortalSource({ url: server.url, chain: CHAIN, limiter });
    onTestFinished(() => source.close());
    await expect(readBlocks(source, { from: 100, to: 120 })).rejects.toThrow('no more');
    expect(calls).toEqual([1, 1]);
    expect(server.queries.length).toBe(1);
  });
});
