import type { Database, Transaction } from '@chainstead/db';

/** The process has ended. */
export class KilledError extends Error {}

/** A database whose client is killed after so many statements: what it has not committed by then is rolled back, and nothing works any more. */
export function dyingDatabase(database: Database, statements: number): Database {
  let left = statements;
  async function step<T>(work: () => Promise<T>): Promise<T> {
    if (left-- <= 0) throw new KilledError('The process was killed');
    return work();
  }
  const dying = (transaction: Transaction): Transaction => ({
    client: transaction.client,
    query: <Row extends object>(...asked: Parameters<Transaction['query']>) =>
      step(() => transaction.query<Row>(...asked)),
    copy: (table, columns, lines) => step(() => transaction.copy(table, columns, lines)),
    copyTogether: (copies, around) => step(() => transaction.copyTogether(copies, around)),
    together: (ask) => transaction.together(ask),
    notify: (channel) => transaction.notify(channel),
  });
  const query = <Row extends object>(...asked: Parameters<Database['query']>) =>
    step(() => database.query<Row>(...asked));
  return {
    pool: database.pool,
    query,
    select: query,
    selectLasting: query,
    transaction: (work) =>
      step(() =>
        database.transaction(async (transaction) => {
          const result = await work(dying(transaction));
          // Before it is committed.
          return step(async () => result);
        }),
      ),
    until: (signal, how, counting) => dyingDatabase(database.until(signal, how, counting), left),
    session: (options) => database.session(options),
    close: () => database.close(),
  };
}
