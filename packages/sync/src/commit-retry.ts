/** Attempts at a transaction that Postgres ended because it and another waited for each other. */
const ATTEMPTS_MAX = 5;

/**
 * Runs a transaction again that lost a deadlock: of the two that waited for each other the other one has gone on. Backfill,
 * reindex, prover and on-demand histories may meet at the same rows, some with the commit lock, some on their way to it.
 */
export async function retryDeadlock<T>(attempt: () => Promise<T>): Promise<T> {
  for (let attempts = 1; ; attempts++)
    try {
      return await attempt();
    } catch (error) {
      if (attempts === ATTEMPTS_MAX || !isDeadlock(error)) throw error;
    }
}

function isDeadlock(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '40P01';
}
