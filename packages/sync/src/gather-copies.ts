import type { Copy, Transaction } from '@chainstead/db';

/** Copies that wait for each other, so that those of a block are one round trip to the server. */
export interface GatheredCopies {
  /** Takes rows, which are copied by {@link GatheredCopies.flush} at the latest. @returns how many they are */
  add(copy: Copy): Promise<number>;
  flush(): Promise<void>;
}

/** So many rows are sent at once. More of a table are streamed, as fast as the server takes them. */
const ROWS_TOGETHER = 10_000;

export function gatherCopies(transaction: Transaction): GatheredCopies {
  let waiting: Copy[] = [];
  let rows = 0;

  async function flush(): Promise<void> {
    const copies = waiting;
    waiting = [];
    rows = 0;
    await transaction.copyTogether(copies);
  }

  return {
    async add(copy) {
      const { table, columns, lines } = copy;
      if (lines.length > ROWS_TOGETHER) return transaction.copy(table, columns, lines);
      if (rows + lines.length > ROWS_TOGETHER) await flush();
      waiting.push(copy);
      rows += lines.length;
      return lines.length;
    },
    flush,
  };
}
