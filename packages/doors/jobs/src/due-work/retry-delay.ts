/** `base` after the first attempt, doubled after each further one, up to `max`. */
export function backoffSeconds(
  attempts: number,
  { base, max }: Readonly<Record<'base' | 'max', number>>,
): number {
  return Math.min(base * 2 ** Math.min(Math.max(attempts - 1, 0), 30), max);
}
