const UNITS = ['kB', 'MB', 'GB', 'TB'] as const;
const STEP = 1_000;

/** Returns `12.3 GB`, or `−1.2 MB` for a decrease. */
export function byteText(bytes: number): string {
  const sign = bytes < 0 ? '−' : '';
  let value = Math.abs(bytes);
  if (value < STEP) return `${sign}${Math.round(value)} bytes`;
  let unit: string = '';
  for (const next of UNITS) {
    if (value < STEP) break;
    value /= STEP;
    unit = next;
  }
  return `${sign}${value.toFixed(value < 100 ? 1 : 0)} ${unit}`;
}
