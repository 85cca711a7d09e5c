import type { Log, Receipt } from '@chainstead/core';

/** Some clients number logs from 0 in each transaction. @param receipts all of a block, in order */
export function placeLogs(receipts: readonly Receipt[]): {
  readonly receipts: readonly Receipt[];
  readonly misplaced: number;
} {
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

export function repeatsIndexes(receipts: readonly Receipt[]): boolean {
  return receipts.some(({ logs }) => new Set(logs.map(({ logIndex }) => logIndex)).size < logs.length);
}

/** A number repeats in a transaction, or (`risesInBlock`) does not rise. Logs in chain order. */
export function misnumberedBlocks(
  logs: readonly Log[],
  { risesInBlock }: { readonly risesInBlock: boolean },
): Set<number> {
  const blocks = new Set<number>();
  let previous: Log | undefined;
  for (const log of logs) {
    if (previous?.blockNumber === log.blockNumber && log.logIndex <= previous.logIndex) {
      if (risesInBlock || previous.transactionIndex === log.transactionIndex) blocks.add(log.blockNumber);
    }
    previous = log;
  }
  return blocks;
}
