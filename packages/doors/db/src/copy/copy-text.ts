export const COPY_NULL = '\\N';

/** COPY unescapes before `bytea` parses. Unchecked. @example copyHex('0xabc0') // '\\\\xabc0' */
export function copyHex(hex: string): string {
  return `\\\\${hex.slice(1)}`;
}

/** Without NUL, which Postgres can't store; unpaired surrogates become U+FFFD. */
export function copyText(text: string | null): string {
  if (text === null) return COPY_NULL;
  const storable = text.isWellFormed() ? text : text.toWellFormed();
  return NEEDS_ESCAPE.test(storable)
    ? storable.replace(ESCAPED, (character) => ESCAPES[character] ?? '')
    : storable;
}

/** Null is NULL. */
export function copyValue(value: number | bigint | boolean | Date | string | null): string {
  if (value === null) return COPY_NULL;
  if (typeof value === 'string') return copyText(value);
  if (value instanceof Date) return value.toISOString();
  return String(value);
}

const NEEDS_ESCAPE = /[\0\t\n\r\\]/;
const ESCAPED = /[\0\t\n\r\\]/g;

const ESCAPES: Readonly<Record<string, string>> = {
  '\0': '',
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
  '\\': '\\\\',
};
