import { knownFor, systemClock } from '@chainstead/core';
import { isSpread, type ReadDatabase } from '@chainstead/db';

type Source = Pick<ReadDatabase, 'selectLasting'>;

/** Tables are distributed once, while the program is stopped. */
const KNOWN_FOR_MS = 60_000;

const asking = new WeakMap<Source, () => Promise<boolean>>();

export function areTablesSpread(database: Source): Promise<boolean> {
  const isSpreadNow = () => isSpread({ query: database.selectLasting });
  const ask = asking.get(database) ?? knownFor(KNOWN_FOR_MS, systemClock, isSpreadNow);
  asking.set(database, ask);
  return ask();
}
