import type { ReadDatabase } from '@chainstead/db';

/** Where routes read: on a standby perhaps, and on the primary. */
export interface ReadingSources {
  readonly reads: ReadDatabase;
  readonly database: ReadDatabase;
}

/**
 * Reads the derived state of a subject. If the first read shows it unbuilt, reads again from the primary: the same request may just have
 * built it, and a standby does not have it yet.
 */
export async function readBuilt<Found extends { readonly isBuilt: boolean }>(
  { reads, database }: ReadingSources,
  read: (from: ReadDatabase) => Promise<Found>,
): Promise<Found> {
  const found = await read(reads);
  return found.isBuilt || reads === database ? found : read(database);
}
