import type { Copy, StatementsAround, Transaction } from '@chainstead/db';

export interface GatheredCopies {
  /** Copied by `flush` at the latest. `around`: statements without parameters. @returns rows */
  add(copy: Copy, around?: StatementsAround): Promise<number>;
  flush(): Promise<void>;
}

const ROWS_TOGETHER = 10_000;
const CHARACTERS_TOGETHER = 8_388_608;

export function gatherCopies(transaction: Transaction): GatheredCopies {
  let waiting: { readonly copy: Copy; readonly around: StatementsAround }[] = [];
  let rows = 0;
  let characters = 0;

  async function flush(): Promise<void> {
    const gathered = waiting;
    waiting = [];
    rows = 0;
    characters = 0;
    await transaction.copyTogether(
      gathered.map(({ copy }) => copy),
      {
        before: gathered.flatMap(({ around }) => around.before ?? []),
        after: gathered.flatMap(({ around }) => around.after ?? []),
      },
    );
  }

  async function stream({ table, columns, lines }: Copy, { before = [], after = [] }: StatementsAround) {
    for (const statement of before) await transaction.query(statement);
    const copied = await transaction.copy(table, columns, lines);
    for (const statement of after) await transaction.query(statement);
    return copied;
  }

  return {
    async add(copy, around = {}) {
      const { length } = copy.lines;
      const size = copy.lines.reduce((sum, line) => sum + line.length, 0);
      if (length > ROWS_TOGETHER || size > CHARACTERS_TOGETHER) return stream(copy, around);
      if (rows + length > ROWS_TOGETHER || characters + size > CHARACTERS_TOGETHER) await flush();
      waiting.push({ copy, around });
      rows += length;
      characters += size;
      return length;
    },
    flush,
  };
}
