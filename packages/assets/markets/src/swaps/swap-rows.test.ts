/** Rows of all recorded blocks: each swap has one, with the sender of its transaction. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Chain, createChainRegistry } from '@chainstead/chains';
import { parseAddress, ZERO_ADDRESS } from '@chainstead/core';
import type { ExecutedTransaction } from '@chainstead/sync/datasets';
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

  test('have tokens', () => {
    for (const { kind, token0, token1 } of rows.flat())
      if (kind === 0) expect([token0, token1]).not.toContain(null);
  });

  test('have the native token of a Curve pool that no transfer shows, and no token that the pool deposits elsewhere', () => {
    const [ether, deposited] = ['ethereum/19529493', 'polygon/35780009'].map((folder) => rowsOf(folder));
    expect(ether?.find(({ logIndex }) => logIndex === 139)).toMatchObject({
      ...{ token0: ZERO_ADDRESS, token1: '0xae7ab96520de3a18e5e111b5eaab095312d7fe84' },
      ...{ amount0: '200000000000000000000', amount1: '-200581811169004999905' },
    });
    expect(deposited?.find(({ logIndex }) => logIndex === 148)).toMatchObject({
      ...{ token0: '0xa3fa99a148fa48d14ed51d610c367c61876997f1', amount0: '-745628851345042397878' },
      ...{ token1: '0xe7a24ef0c5e95ffb0f6684b813a78f2a3ad7d171', amount1: '693585305220251062502' },
    });
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
