import type { Hash, Hex, Log, Receipt } from '@chainstead/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BlockWithReceipts, type Proof, type ProvableChain, proveBlock } from './prove-block.ts';
import { receiptsRoot, stateSyncTransactionHash } from './receipts-root.ts';
import { RECORDINGS, type RecordedBlock, readRecordedBlocks } from './testing/recorded-blocks.ts';

const recorded = readRecordedBlocks();
const ETHEREUM: ProvableChain = { receiptsRoot: 'ethereum', headerHash: true };

/**
 * Listed as one that does not recompute, but does: its deposit shows a nonce and no version, so that the nonce is not
 * hashed (OP Stack, between Regolith and Canyon).
 */
const RECOMPUTES_THOUGH_UNLISTED = 'optimism/107353722';

describe.skipIf(RECORDINGS.isMissing)(RECORDINGS.title('every recorded block'), () => {
  it.each(recorded)('$folder is proven exactly when its root can be recomputed', (one) => {
    const proof = proveBlock(one.block, one.chain);
    if (one.listed || one.folder === RECOMPUTES_THOUGH_UNLISTED) expect(proof.level).toBe('receipts');
    else if (one.chain.receiptsRoot === 'none') expect(proof.level).toBe('not-applicable');
    else expect(proof.level).toBe('unproven');
  });

  it('says why the rest is not proven', () => {
    const reasonOf = (folder: string): string => reason(proveBlock(find(folder).block, find(folder).chain));
    expect(reasonOf('ethereum/3000000')).toBe('root-mismatch');
    expect(reasonOf('base/1962302')).toBe('root-mismatch');
    expect(reasonOf('mumbai/22743478')).toBe('root-mismatch');
    expect(reasonOf('ropsten/363366')).toBe('root-mismatch');
    expect(proveBlock(find('cronos/6542').block, find('cronos/6542').chain)).toEqual({ level: 'not-applicable' });
  });

  it('has its header hash verified where the chain allows it', () => {
    const levels = recorded.map(({ block, chain }) => proveBlock(block, chain));
    const verified = levels.filter((proof) => proof.level === 'receipts' && proof.headerHash === 'verified');
    expect(verified.length).toBeGreaterThan(95);
  });
});

describe.skipIf(RECORDINGS.isMissing)(RECORDINGS.title('a bloom'), () => {
  it('that a node fills in wrongly does not keep whole receipts from being proven', () => {
    const { block, chain } = find('ethereum/17034873');
    const receipts = block.receipts.map((receipt) => ({
      ...receipt,
      raw: { ...receipt.raw, logsBloom: `0x${'00'.repeat(256)}` },
    }));
    expect(proveBlock({ ...block, receipts }, chain).level).toBe('receipts');
  });
});

describe.skipIf(RECORDINGS.isMissing)(RECORDINGS.title('a faulty answer'), () => {
  const withLogs = recorded.filter(
    ({ listed, block }) => listed && committed(block).some((receipt) => receipt.logs.length > 0),
  );

  /** A recorded block and one of its logs that the header commits to. */
  const anyLog = () =>
    fc.constantFrom(...withLogs).chain((one) => {
      const places = committed(one.block).flatMap((receipt) =>
        receipt.logs.map((_, log) => ({ receipt: receipt.transactionIndex, log })),
      );
      return fc.record({ one: fc.constant(one), place: fc.constantFrom(...places) });
    });

  it('without any one log is not proven', () => {
    fc.assert(
      fc.property(anyLog(), ({ one, place }) => {
        const broken = editReceipt(one.block, place.receipt, (receipt) => ({
          ...receipt,
          logs: receipt.logs.toSpliced(place.log, 1),
        }));
        expect(reason(proveBlock(broken, one.chain))).toBe('root-mismatch');
      }),
      { numRuns: 300 },
    );
  });

  it('without any one log of one block is not proven, for each of its logs', () => {
    const { block } = find('ethereum/12244145');
    for (const receipt of block.receipts)
      for (const at of receipt.logs.keys()) {
        const broken = editReceipt(block, receipt.transactionIndex, (one) => ({
          ...one,
          logs: one.logs.toSpliced(at, 1),
        }));
        expect(rootOf(broken)).not.toBe(block.header.receiptsRoot);
      }
  });

  it('with any field of a log altered is not proven', () => {
    const edits: ((log: Log) => Log)[] = [
      (log) => ({ ...log, address: flip(log.address) }),
      (log) => ({ ...log, data: log.data === '0x' ? '0x00' : flip(log.data) }),
      (log) => ({ ...log, topics: log.topics.slice(1) }),
      (log) => ({ ...log, topics: [...log.topics, `0x${'0'.repeat(64)}` as Hash] }),
    ];
    fc.assert(
      fc.property(anyLog(), fc.constantFrom(...edits), ({ one, place }, edit) => {
        const broken = editLog(one.block, place.receipt, place.log, edit);
        fc.pre(
          JSON.stringify(broken.receipts[place.receipt]?.logs) !==
            JSON.stringify(one.block.receipts[place.receipt]?.logs),
        );
        expect(reason(proveBlock(broken, one.chain))).toBe('root-mismatch');
      }),
      { numRuns: 300 },
    );
  });

  it('with a log of another block or transaction, or the same log index twice, is named as such', () => {
    const { block, chain } = find('ethereum/18000000');
    const receipt = block.receipts.findIndex((one) => one.logs.length > 1);
    const other = `0x${'ab'.repeat(32)}` as Hash;
    const reasonAfter = (edit: (log: Log) => Log): string =>
      reason(proveBlock(editLog(block, receipt, 1, edit), chain));
    expect(reasonAfter((log) => ({ ...log, blockHash: other }))).toBe('log-placement');
    expect(reasonAfter((log) => ({ ...log, blockNumber: log.blockNumber + 1 }))).toBe('log-placement');
    expect(reasonAfter((log) => ({ ...log, transactionHash: other }))).toBe('log-placement');
    expect(reasonAfter((log) => ({ ...log, transactionIndex: log.transactionIndex + 1 }))).toBe('log-placement');
    expect(reasonAfter((log) => ({ ...log, logIndex: log.logIndex - 1 }))).toBe('duplicate-log');
  });

  it('with receipts missing, surplus or in another order is named as such, on chains without roots too', () => {
    for (const folder of ['ethereum/18000000', 'cronos/68215']) {
      const { block, chain } = find(folder);
      const [first, second] = block.receipts;
      if (first === undefined || second === undefined) throw new Error(`${folder} has fewer than two receipts`);
      const after = (receipts: readonly Receipt[]): string => reason(proveBlock({ ...block, receipts }, chain));
      expect(after(block.receipts.slice(1))).toBe('receipt-count');
      expect(after([...block.receipts, first])).toBe('receipt-count');
      expect(after([second, first, ...block.receipts.slice(2)])).toBe('receipt-order');
      expect(after([{ ...first, transactionIndex: 1 }, ...block.receipts.slice(1)])).toBe('receipt-order');
    }
  });

  it('with another header, or none of its root, is named as such', () => {
    const { block, chain } = find('ethereum/18000000');
    const { header } = block;
    const stamped = { ...header, raw: { ...header.raw, timestamp: '0x1' } };
    expect(reason(proveBlock({ ...block, header: stamped }, chain))).toBe('header-hash-mismatch');
    expect(proveBlock({ ...block, header: stamped }, { ...chain, headerHash: false }).level).toBe('receipts');
    expect(reason(proveBlock({ ...block, header: { ...header, receiptsRoot: null } }, chain))).toBe('root-missing');
  });

  it('with a field that is no hexadecimal is malformed, also right after the true answer', () => {
    const { block, chain } = find('ethereum/18000000');
    const receipt = block.receipts.findIndex((one) => one.logs.some((log) => log.data.length > 10));
    expect(proveBlock(block, chain).level).toBe('receipts');
    for (const data of ['0x0', '', '0xzz', `0x${'zz'.repeat(32)}`, '00'] as Hex[])
      expect(
        reason(
          proveBlock(
            editLog(block, receipt, 0, (log) => ({ ...log, data })),
            chain,
          ),
        ),
      ).toBe('malformed');
    const status = (receipts: Receipt): Receipt => ({ ...receipts, raw: { ...receipts.raw, status: 'ok' } });
    expect(reason(proveBlock(editReceipt(block, 0, status), chain))).toBe('malformed');
  });
});

describe.skipIf(RECORDINGS.isMissing)(RECORDINGS.title('synthetic receipts'), () => {
  it('of Polygon state sync are kept out of the root, whether the block lists them or not', () => {
    const { block, chain } = find('polygon/35779968');
    const hash = stateSyncTransactionHash(block.header.number, block.header.hash);
    expect(block.transactionHashes.at(-1)).toBe(hash);
    expect(proveBlock(block, chain).level).toBe('receipts');
    const unlisted = { ...block, transactionHashes: block.transactionHashes.slice(0, -1) };
    expect(proveBlock(unlisted, chain).level).toBe('receipts');
    const lost = { ...block, receipts: block.receipts.slice(0, -1) };
    expect(reason(proveBlock(lost, chain))).toBe('receipt-count');
  });

  it('of HyperCore system transactions are kept out of the root', () => {
    const one = find('hyperliquid/50000');
    const system = { ...receipt(`0x${'77'.repeat(32)}` as Hash, 0n), transactionIndex: 0 };
    const shown = { ...one.block, receipts: [system, ...one.block.receipts] };
    expect(proveBlock(shown, one.chain).level).toBe('receipts');
    expect(reason(proveBlock(shown, ETHEREUM))).toBe('receipt-count');
    const foreign = { ...one.block, receipts: [{ ...system, cumulativeGasUsed: 1n }, ...one.block.receipts] };
    expect(reason(proveBlock(foreign, one.chain))).toBe('receipt-order');
  });
});

function find(folder: string): RecordedBlock {
  const found = recorded.find((one) => one.folder === folder);
  if (found === undefined) throw new Error(`${folder} is not among the recorded blocks`);
  return found;
}

function committed(block: BlockWithReceipts): readonly Receipt[] {
  const stateSync = stateSyncTransactionHash(block.header.number, block.header.hash);
  return block.receipts.filter((one) => one.transactionHash !== stateSync);
}

function reason(proof: Proof): string {
  return proof.level === 'unproven' ? proof.reason : proof.level;
}

function rootOf(block: BlockWithReceipts): Hash {
  const { number: blockNumber, hash: blockHash } = block.header;
  return receiptsRoot(block.receipts, { encoding: 'ethereum', blockNumber, blockHash });
}

function editReceipt(block: BlockWithReceipts, at: number, edit: (receipt: Receipt) => Receipt): BlockWithReceipts {
  return { ...block, receipts: block.receipts.map((one, index) => (index === at ? edit(one) : one)) };
}

function editLog(block: BlockWithReceipts, receipt: number, at: number, edit: (log: Log) => Log): BlockWithReceipts {
  return editReceipt(block, receipt, (one) => ({
    ...one,
    logs: one.logs.map((log, index) => (index === at ? edit(log) : log)),
  }));
}

/** The last digit changed. */
function flip<T extends Hex>(text: T): T {
  return `${text.slice(0, -1)}${text.endsWith('0') ? '1' : '0'}` as T;
}

function receipt(transactionHash: Hash, cumulativeGasUsed: bigint): Receipt {
  return { transactionHash, transactionIndex: 0, type: 0, cumulativeGasUsed, logs: [], raw: { status: '0x1' } };
}
