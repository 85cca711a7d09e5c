const ADDRESS = /^(?:0[xX])?([0-9a-fA-F]{1,64})$/;
const STANDARD = /^0x[0-9a-f]{64}$/;
const DIGITS = 64;

/** `0x` and 64 lower-case hexadecimal digits. The prefix and leading zeros are optional; null if it is not an address. */
export function standardAddress(text: string): string | null {
  if (STANDARD.test(text)) return text;
  const digits = ADDRESS.exec(text)?.[1];
  return digits === undefined ? null : `0x${digits.toLowerCase().padStart(DIGITS, '0')}`;
}

export const FRAMEWORK_ADDRESS = `0x${'1'.padStart(DIGITS, '0')}`;
