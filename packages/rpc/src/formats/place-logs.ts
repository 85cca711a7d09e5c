import type { Log, Receipt } from '@chainstead/core';

/** Receipts whose logs are numbered by block, and the number of logs that were not. */
export interface PlacedReceipts {
  readonly receipts: readonly Receipt[];
  readonly misplaced: number;
}

/**
 * Numbers each log by the count of logs before it in its block. Some clients number logs from 0 in each transaction, or
 * all alike. Receipts with correct numbers are returned as the same objects.
 * @param receipts all of a block, in transaction order
 */
export function placeLogs(receipts: readonly Receipt[]): PlacedReceipts {
  let next = 0;
  let misplaced = 0;
  const placed = receipts.map((receipt) => {
    const from = next;
    next += receipt.logs.length;
    const wrong = receipt.logs.filter((log, index) => log.logIndex !== from + index).length;
    misplaced += wrong;
    if (wrong === 0) return receipt;
    return { ...receipt, logs: receipt.logs.map((log, index) => ({ ...log, logIndex: from + index })) };
  });
  return misplaced === 0 ? { receipts, misplaced } : { receipts: placed, misplaced };
}

/** Whether two logs of a transaction have the same number, so that their rows can't be distinguished. */
export function repeatsIndexes(receipts: readonly Receipt[]): boolean {
  return receipts.some(({ logs }) => new Set(logs.map(({ logIndex }) => logIndex)).size < logs.length);
}

/**
 * Returns the blocks whose logs can't be numbered by block: a number repeats in a transaction, or (`risesInBlock`) does
 * not increase in a later transaction.
 * @param logs in chain order
 */
export function misnumberedBlocks(
  logs: readonly Log[],
  { risesInBlock }: { readonly risesInBlock: boolean },
): Set<number> {
  const blocks = new Set<number>();
  let previous: Log | undefined;
  for (const log of logs) {
    const isNext = previous?.blockNumber === log.blockNumber;
    const isNextInTransaction = isNext && previous?.transactionIndex === log.transactionIndex;
    if (
      (isNextInTransaction || (isNext && risesInBlock)) &&
      previous !== undefined &&
      log.logIndex <= previous.logIndex
    )
      blocks.add(log.blockNumber);
    previous = log;
  }
  return blocks;
}
