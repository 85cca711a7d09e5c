import type { Hash, Hex, Log, Receipt } from '@chainstead/core';
import { describe, expect, it } from 'vitest';
import { stateSyncTransactionHash } from '../receipts/receipts-root.ts';
import { RECORDINGS, type RecordedBlock, readRecordedBlocks } from '../testing/recorded-blocks.ts';
import { type BlockWithReceipts, type Proof, type ProvableChain, proveBlock } from './prove-block.ts';

const recorded = readRecordedBlocks();
const ETHEREUM: ProvableChain = { receiptsRoot: 'ethereum', headerHash: true };

/**
 * Listed as a block whose root can't be recomputed, although it can: its deposit shows a nonce but no version, so the
 * nonce is not hashed (OP Stack, between Regolith and Canyon).
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

function reason(proof: Proof): string {
  return proof.level === 'unproven' ? proof.reason : proof.level;
}

function editReceipt(
  block: BlockWithReceipts,
  at: number,
  edit: (receipt: Receipt) => Receipt,
): BlockWithReceipts {
  return { ...block, receipts: block.receipts.map((one, index) => (index === at ? edit(one) : one)) };
}

function editLog(
  block: BlockWithReceipts,
  receipt: number,
  at: number,
  edit: (log: Log) => Log,
): BlockWithReceipts {
  return editReceipt(block, receipt, (one) => ({
    ...one,
    logs: one.logs.map((log, index) => (index === at ? edit(log) : log)),
  }));
}

function receipt(transactionHash: Hash, cumulativeGasUsed: bigint): Receipt {
  return { transactionHash, transactionIndex: 0, type: 0, cumulativeGasUsed, logs: [], raw: { status: '0x1' } };
}
