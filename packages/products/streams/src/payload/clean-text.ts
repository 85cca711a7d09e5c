/** Returns text that JSON, UTF-8 and Postgres carry unchanged: NUL removed, lone surrogates replaced by U+FFFD. */
export function cleanText(text: string): string {
  return text.replaceAll('\0', '').toWellFormed();
}

/** Plain JSON with clean texts: a bigint becomes decimal digits, values outside JSON become null. */
export function cleanJson(value: unknown): unknown {
  if (typeof value === 'string') return cleanText(value);
  if (typeof value === 'bigint') return value.toString();
  if (Array.isArray(value)) return value.map(cleanJson);
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [cleanText(key), cleanJson(member)]));
  return typeof value === 'number' || typeof value === 'boolean' ? value : null;
}
