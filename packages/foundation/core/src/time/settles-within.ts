/** False: too late, and the work continues. @throws the work's rejection in time */
export async function settlesWithin(work: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => late.resolve(false), timeoutMs);
  try {
    return await Promise.race([work.then(() => true), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
