import { type Clock, systemClock } from '@chainstead/core';
import { isSpread, type ReadDatabase } from '@chainstead/db';

type Source = Pick<ReadDatabase, 'selectLasting'>;

/** How long the result is valid: tables are distributed once in a database's life, while the program is stopped. Milliseconds. */
const KNOWN_FOR_MS = 60_000;

const asking = new WeakMap<Source, () => Promise<boolean>>();

/** Whether tables are distributed over several nodes, at most a minute ago: then a page queries its contracts one by one. */
export function areTablesSpread(database: Source): Promise<boolean> {
  const ask = asking.get(database) ?? createAsking(database, systemClock);
  asking.set(database, ask);
  return ask();
}

function createAsking(database: Source, clock: Pick<Clock, 'now'>): () => Promise<boolean> {
  let known: { readonly spread: Promise<boolean>; readonly until: number } | null = null;
  return () => {
    if (known !== null && clock.now() < known.until) return known.spread;
    const requested = { spread: isSpread({ query: database.selectLasting }), until: clock.now() + KNOWN_FOR_MS };
    known = requested;
    requested.spread.catch(() => {
      // The waiting requests get the failure; the next request tries again.
      if (known === requested) known = null;
    });
    return requested.spread;
  };
}
