/** Nesting of JSON that is kept. Deeper values can't be written as text again without exhausting the stack. */
const DEPTH_MAX = 20;

/** Whether Postgres can keep a text and UTF-8 can carry it: no NUL, no half of a surrogate pair. */
export function isStorableText(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

/** Whether parsed JSON can be kept and sent again. */
export function isStorableJson(value: unknown, depth = 0): boolean {
  if (depth > DEPTH_MAX) return false;
  if (typeof value === 'string') return isStorableText(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, item]) => isStorableText(key) && isStorableJson(item, depth + 1));
}
