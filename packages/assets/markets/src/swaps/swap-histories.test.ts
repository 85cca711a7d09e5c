/** Filters that find the transactions of accounts, over all recorded blocks. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createChainRegistry } from '@chainstead/chains';
import { type Address, type Log, parseAddress } from '@chainstead/core';
import type { ExecutedTransaction, HistoryFilter } from '@chainstead/sync/datasets';
import { addressOf, hashOf, listRecordedBlocks, readRecordedLogs, recordedData } from '@chainstead/testkit';
import { expect, test } from 'vitest';
import { exampleLog } from '../testing/example-log.ts';
import { swapHistories, swaps } from './dataset.ts';
import { swapRows } from './swap-rows.ts';

const RECORDINGS = recordedData('data/evm');
const V2_SWAP =
  'Swap(address indexed sender, uint256 amount0In, uint256 amount1In, uint256 amount0Out, uint256 amount1Out, address indexed to)';
const FOLDERS = ['ethereum/12000000', 'polygon/35779967', 'base/1962302'];
const CHAINS: Readonly<Record<string, string>> = { ethereum: 'eth' };

test.skipIf(RECORDINGS.isMissing)(
  RECORDINGS.title('a transfer names every beneficiary that is not the sender'),
  () => {
    let found = 0;
    for (const folder of FOLDERS.filter((one) => listRecordedBlocks().includes(one))) {
      const [name = ''] = folder.split('/');
      const chain = createChainRegistry().get(CHAINS[name] ?? name);
      for (const transaction of transactionsOf(folder)) {
        const changes = swapRows(transaction, chain);
        if (changes.length > 0) expect(swaps.wholeBlocks?.storesSender?.(transaction.logs)).toBe(true);
        const rows = changes.filter(({ kind }) => kind === 0);
        expect(swapHistories.mayHaveRows(transaction.logs, chain)).toBe(rows.length > 0);
        for (const row of rows) {
          expect(swapHistories.isOf(row, row.wallet)).toBe(true);
          if (row.beneficiary === null) continue;
          expect(swapHistories.isOf(row, row.beneficiary)).toBe(true);
          expect(isNamed(transaction, swapHistories.filters(chain, row.beneficiary))).toBe(true);
          found += 1;
        }
      }
    }
    expect(found).toBeGreaterThan(0);
  },
);

test('the sender of a transaction is stored if one of its logs is a swap', () => {
  const place = { blockNumber: 9, blockHash: hashOf(1, 9), transactionIndex: 0, transactionHash: hashOf(2, 9) };
  const logOf = (declaration: string, args: object, logIndex: number): Log => ({
    ...exampleLog(declaration, { ...args }, addressOf(5)),
    ...{ ...place, logIndex, blockTimestamp: null },
  });
  const moved = logOf('Sync(uint256 reserve)', { reserve: 1n }, 0);
  const amounts = { amount0In: 7n, amount1In: 0n, amount0Out: 0n, amount1Out: 5n };
  const swap = logOf(V2_SWAP, { ...amounts, sender: addressOf(1), to: addressOf(2) }, 1);
  const transaction = { hash: place.transactionHash, from: addressOf(3), to: addressOf(1), value: 0n };
  const rows = swapRows(
    { ...transaction, logs: [moved, swap] } as unknown as ExecutedTransaction,
    createChainRegistry().get('eth'),
  );
  expect(rows).toMatchObject([{ wallet: addressOf(3), logIndex: 1 }]);
  const storesSender = swaps.wholeBlocks?.storesSender;
  expect([[moved, swap], [swap], [moved], []].map((logs) => storesSender?.(logs))).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

/** By the rules of nodes, written again. */
function isNamed({ logs }: ExecutedTransaction, filters: readonly HistoryFilter[]): boolean {
  return logs.some(({ topics }) =>
    filters.some(
      (filter) =>
        filter.topics.some((topic) => topic === topics[0]) &&
        (filter.indexed ?? []).every(
          (wanted, place) => wanted === null || wanted.some((one) => one === topics[place + 1]),
        ),
    ),
  );
}

function transactionsOf(folder: string): readonly ExecutedTransaction[] {
  const path = join(RECORDINGS.folder, folder, 'receipts.json');
  const receipts: { transactionHash: string; from: string; to: string | null }[] = JSON.parse(
    readFileSync(path, 'utf8'),
  );
  const byHash = Map.groupBy(readRecordedLogs(folder), ({ transactionHash }) => transactionHash);
  const address = (text: string | null): Address | null => (text === null ? null : parseAddress(text));
  return receipts.map(
    ({ transactionHash, from, to }) =>
      ({
        ...{ hash: transactionHash, from: parseAddress(from), to: address(to), value: 0n },
        logs: byHash.get(transactionHash as never) ?? [],
      }) as unknown as ExecutedTransaction,
  );
}
