/** `1500000` with 6 decimals is `1.5`: no trailing zeros. @param baseUnits decimal digits */
export function decimalAmount(baseUnits: string, decimals: number): string {
  if (decimals === 0) return baseUnits;
  const digits = baseUnits.padStart(decimals + 1, '0');
  const point = digits.length - decimals;
  let end = digits.length;
  while (end > point && digits.charCodeAt(end - 1) === ZERO) end--;
  return end === point ? digits.slice(0, point) : `${digits.slice(0, point)}.${digits.slice(point, end)}`;
}

const ZERO = 48;
