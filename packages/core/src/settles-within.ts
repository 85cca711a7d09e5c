/**
 * Waits for work that may take too long; the work itself goes on.
 * @param timeoutMs milliseconds
 * @returns false when the time ran out first
 * @throws what the work rejects with, when it does so in time
 */
export async function settlesWithin(work: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => late.resolve(false), timeoutMs);
  try {
    return await Promise.race([work.then(() => true), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
