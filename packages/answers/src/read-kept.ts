import type { ReadDatabase } from '@chainstead/db';

/** Where routes read: on a standby perhaps, and on the primary. */
export interface ReadingSources {
  readonly reads: ReadDatabase;
  readonly database: ReadDatabase;
}

/**
 * Reads what is kept of a subject; from the primary where it is not built in what the first read shows: it was perhaps just now, by the
 * same request, and a standby does not have it yet.
 */
export async function readKept<Found extends { readonly isBuilt: boolean }>(
  { reads, database }: ReadingSources,
  read: (from: ReadDatabase) => Promise<Found>,
): Promise<Found> {
  const found = await read(reads);
  return found.isBuilt || reads === database ? found : read(database);
}
