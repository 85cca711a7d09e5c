import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createChainRegistry } from '@chainstead/chains';
import { proveBlock, proveTransactions } from '@chainstead/proof';
import { parseBlock, parseReceipt } from '@chainstead/rpc';
import { loadRecordedChain, recordedData, serveHyperSync, servePortal } from '@chainstead/testkit';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { SourceBlock } from '../block-source.ts';
import { openHyperSyncSource } from '../hypersync/open-hypersync-source.ts';
import { openPortalSource } from '../portal/open-portal-source.ts';
import { readBlocks } from '../testing/read-all.ts';
import type { SourceKind } from '../testing/source-stage.ts';
import type { Json } from './forms.ts';

const { folder, isMissing, title } = recordedData('data/evm');
const CHAINS = { eth: 'ethereum', base: 'base', optimism: 'optimism', arbitrum: 'arbitrum', polygon: 'polygon' };
/** Polygon's are many, and alike. */
const BLOCKS_MAX = 24;
const registry = createChainRegistry();

/** What the recorded nodes show and the services don't, or the other way round; no root commits to it. */
const UNCOMMITTED = new Set([
  ...['header.author', 'header.sendCount', 'header.sendRoot', 'header.withdrawals'],
  ...['transaction.blockTimestamp', 'transaction.yParity', 'transaction.maxPriorityFeePerGas'],
  ...['transaction.sourceHash', 'receipt.root', 'receipt.type', 'receipt.effectiveGasPrice'],
  ...['receipt.gasUsedForL1', 'receipt.l1BlockNumber', 'receipt.depositNonce'],
]);

describe.skipIf(isMissing)(title('recorded blocks'), () => {
  const cases = Object.entries(CHAINS).flatMap(([key, name]): [SourceKind, string, string][] => [
    ['portal', key, name],
    ['hypersync', key, name],
  ]);

  test.each(cases)('over a %s are those of a node of %s, and lack what has no proof', async (kind, key, name) => {
    const chain = registry.get(key);
    for (const number of recordedNumbers(name)) {
      const { read, node } = await readRecorded(kind, key, number);
      const { header, transactions } = read.block;
      const unexpected = differences(read, node).filter((difference) => !UNCOMMITTED.has(difference));
      expect({ number, unexpected }).toEqual({ number, unexpected: [] });
      const given = parseBlock({ ...node.header, transactions: node.transactions });
      const receipts = node.receipts.map(parseReceipt);
      const expected = proveBlock({ ...given, receipts }, chain);
      const proof = proveBlock({ ...read.block, receipts: read.receipts }, chain);
      if (lacks(read, 'header')) expect(proof).not.toMatchObject({ headerHash: 'verified' });
      else if (lacks(read, 'receipts')) expect(proof.level).toBe('unproven');
      else expect({ number, proof }).toEqual({ number, proof: expected });
      const own = { header, transactions: transactions ?? [], receipts: read.receipts };
      const level = proveTransactions(own, chain).level;
      if (lacks(read, 'transactions')) expect(level).toBe('unproven');
      else {
        const ofNode = proveTransactions({ ...given, receipts, transactions: node.transactions }, chain);
        expect({ number, level }).toEqual({ number, level: ofNode.level });
      }
    }
  });
});

async function readRecorded(kind: SourceKind, key: string, number: number) {
  const chain = registry.get(key);
  const name = CHAINS[key as keyof typeof CHAINS];
  const recorded = await loadRecordedChain({ folder, chain: name, blocks: { from: number, to: number } });
  const server = await (kind === 'portal' ? servePortal : serveHyperSync)(recorded, {
    faults: { nestedLists: true },
  });
  const open = kind === 'portal' ? openPortalSource : openHyperSyncSource;
  const source = open({ url: server.url, chain });
  onTestFinished(async () => {
    await source.close();
    await server.close();
  });
  const [read] = await readBlocks(source, { from: number, to: number });
  const node = recorded.blockAt(number);
  if (read === undefined || node === undefined) throw new Error(`No block ${number}`);
  return { read, node };
}

interface NodeBlock {
  readonly header: Json;
  readonly transactions: readonly Json[];
  readonly receipts: readonly Json[];
}

function differences({ block, receipts }: SourceBlock, node: NodeBlock): string[] {
  const different = new Set<string>();
  const compare = (what: string, own: Json, given: Json) => {
    for (const name of new Set([...Object.keys(own), ...Object.keys(given)]))
      if (name !== 'logs' && normal(own[name]) !== normal(given[name])) different.add(`${what}.${name}`);
  };
  compare('header', block.header.raw, node.header);
  for (const [index, own] of (block.transactions ?? []).entries())
    compare('transaction', own, node.transactions[index] ?? {});
  for (const [index, receipt] of receipts.entries()) {
    const given = node.receipts[index] ?? {};
    compare('receipt', receipt.raw, given);
    const logs = parseReceipt(given).logs.map((log) => ({ ...log, blockTimestamp: block.header.timestamp }));
    if (normal(receipt.logs) !== normal(logs)) different.add('receipt.logs');
  }
  return [...different];
}

/** Some recordings pad quantities with zeros. */
function normal(value: unknown): string {
  if (typeof value === 'string' && /^0x0*[0-9a-f]{0,64}$/i.test(value))
    return `0x${value.slice(2).replace(/^0+/, '')}`;
  return JSON.stringify(value ?? null);
}

function lacks(block: SourceBlock, part: string): boolean {
  return block.lacks.some((lack) => lack.part === part);
}

function recordedNumbers(name: string): number[] {
  const numbers = readdirSync(join(folder, name)).filter((entry) => /^\d+$/.test(entry));
  return numbers.map(Number).slice(0, BLOCKS_MAX);
}
