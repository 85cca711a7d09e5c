/** Rows of all recorded blocks: each swap has one, with the sender of its transaction. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Chain, createChainRegistry } from '@chainstead/chains';
import { parseAddress } from '@chainstead/core';
import type { ExecutedTransaction } from '@chainstead/sync';
import { listRecordedBlocks, readRecordedLogs, recordedData } from '@chainstead/testkit';
import { describe, expect, test } from 'vitest';
import type { SwapRow } from '../tables/schema.ts';
import { swapRows } from './swap-rows.ts';

const RECORDINGS = recordedData('data/evm');
const isMissing = RECORDINGS.isMissing;
const FOLDERS = ['ethereum/12000000', 'polygon/35779967', 'base/1962302'];
const CHAINS: Readonly<Record<string, string>> = { ethereum: 'eth' };

describe.skipIf(isMissing)(RECORDINGS.title('swaps of recorded blocks'), () => {
  const rows = isMissing ? [] : FOLDERS.filter((folder) => listRecordedBlocks().includes(folder)).map(rowsOf);

  test('have tokens, except those of coins that no transfer shows', () => {
    for (const ofBlock of rows) {
      const swaps = ofBlock.filter(({ kind }) => kind === 0);
      const known = swaps.filter(({ token0, token1 }) => token0 !== null && token1 !== null);
      expect(known.length / swaps.length).toBeGreaterThan(0.95);
    }
  });

  test('have opposite signs on their sides', () => {
    for (const { kind, amount0, amount1 } of rows.flat()) {
      if (kind !== 0) continue;
      expect(Math.sign(Number(amount0)) * Math.sign(Number(amount1))).toBe(-1);
    }
  });

  test('have a beneficiary only if it is not the sender', () => {
    for (const { wallet, beneficiary } of rows.flat()) expect(beneficiary).not.toBe(wallet);
  });
});

function rowsOf(folder: string): readonly SwapRow[] {
  return transactionsOf(folder).flatMap((transaction) => swapRows(transaction, chainOf(folder)));
}

function chainOf(folder: string): Chain {
  const [name = ''] = folder.split('/');
  return createChainRegistry().get(CHAINS[name] ?? name);
}

/** As much of a transaction as swaps are made from. */
function transactionsOf(folder: string): readonly ExecutedTransaction[] {
  const path = join(RECORDINGS.folder, folder, 'receipts.json');
  const receipts: { transactionHash: string; from: string; to: string | null }[] = JSON.parse(
    readFileSync(path, 'utf8'),
  );
  const byHash = Map.groupBy(readRecordedLogs(folder), ({ transactionHash }) => transactionHash);
  return receipts.map(
    ({ transactionHash, from, to }) =>
      ({
        hash: transactionHash,
        from: parseAddress(from),
        to: to === null ? null : parseAddress(to),
        value: 0n,
        logs: byHash.get(transactionHash as never) ?? [],
      }) as unknown as ExecutedTransaction,
  );
}
