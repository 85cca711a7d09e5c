/**
 * Returns the result of work; `late` if it takes too long for a page, in which case the work continues in the
 * background.
 * @param timeMs milliseconds
 */
export async function within<Outcome, Late>(
  timeMs: number,
  work: Promise<Outcome>,
  late: Late,
): Promise<Outcome | Late> {
  const over = Promise.withResolvers<Late>();
  const timer = setTimeout(() => over.resolve(late), timeMs);
  try {
    return await Promise.race([work, over.promise]);
  } finally {
    clearTimeout(timer);
  }
}
