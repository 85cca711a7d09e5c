import { type Clock, systemClock } from '@chainstead/core';
import { isSpread, type ReadDatabase } from '@chainstead/db';

type Source = Pick<ReadDatabase, 'selectLasting'>;

/** How long what is known is relied on: tables are distributed once in a database's life, while the program is stopped. Milliseconds. */
const KNOWN_FOR_MS = 60_000;

const asking = new WeakMap<Source, () => Promise<boolean>>();

/** Whether tables are distributed over several nodes, as it was a minute ago at most: then a page asks for what it shows of several contracts one by one. */
export function areTablesSpread(database: Source): Promise<boolean> {
  const ask = asking.get(database) ?? createAsking(database, systemClock);
  asking.set(database, ask);
  return ask();
}

function createAsking(database: Source, clock: Pick<Clock, 'now'>): () => Promise<boolean> {
  let known: { readonly spread: Promise<boolean>; readonly until: number } | null = null;
  return () => {
    if (known !== null && clock.now() < known.until) return known.spread;
    const asked = { spread: isSpread({ query: database.selectLasting }), until: clock.now() + KNOWN_FOR_MS };
    known = asked;
    asked.spread.catch(() => {
      // Who waits for it is told; the next one asks again.
      if (known === asked) known = null;
    });
    return asked.spread;
  };
}
