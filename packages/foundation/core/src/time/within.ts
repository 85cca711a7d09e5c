/** The work continues if it is late. @param onLate may throw instead. @throws the work's rejection in time */
export async function within<T, Late>(
  timeoutMs: number,
  work: Promise<T>,
  onLate: () => Late,
): Promise<T | Late> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, timeoutMs);
  try {
    return await Promise.race([work, late.promise.then(onLate)]);
  } finally {
    clearTimeout(timer);
  }
}

/** For work whose result is of no use later. @throws Error if it is late */
export function answerWithin<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  return within(timeoutMs, work, () => {
    throw new Error(`no answer within ${timeoutMs} ms`);
  });
}

/** False: too late, and the work continues. @throws the work's rejection in time */
export function settlesWithin(work: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  return within(
    timeoutMs,
    work.then(() => true),
    () => false,
  );
}
