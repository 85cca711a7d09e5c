/** Bytes of UTF-8, about 7,500 tokens. */
export const RESULT_BYTES_MAX = 30_000;

type Members = Readonly<Record<string, unknown>>;

const LEFT_OUT = /^(?:block_?hash|.*logo.*|thumbnail|page_?size|logs_?bloom|.*_label|.*_entity)$/i;

/** Drops nulls in objects, hashes of blocks, pictures and labels. */
export function compactValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(compactValue);
  if (!isMembers(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) =>
      member === null || LEFT_OUT.test(name) ? [] : [[name, compactValue(member)]],
    ),
  );
}

export function shareRepeated(rows: readonly unknown[]): {
  readonly rows: readonly unknown[];
  readonly shared: Members;
} {
  const [first] = rows;
  if (rows.length < 2 || !isMembers(first) || !rows.every(isMembers)) return { rows, shared: {} };
  const shared = Object.entries(first).filter(([name, value]) => {
    const text = JSON.stringify(value);
    return rows.every((row) => JSON.stringify(row[name]) === text);
  });
  if (shared.length === 0 || shared.length === Object.keys(first).length) return { rows, shared: {} };
  const names = new Set(shared.map(([name]) => name));
  return {
    rows: rows.map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => !names.has(name)))),
    shared: Object.fromEntries(shared),
  };
}

/** @returns how many first rows fit as a JSON array @param rows JSON texts */
export function rowsThatFit(rows: readonly string[], bytesMax = RESULT_BYTES_MAX): number {
  let bytes = 2;
  for (const [index, row] of rows.entries()) {
    bytes += Buffer.byteLength(row) + (index === 0 ? 0 : 1);
    if (bytes > bytesMax) return index;
  }
  return rows.length;
}

/** A value too large as JSON is cut to the start of its lists and long texts. */
export function fitValue(
  value: unknown,
  bytesMax = RESULT_BYTES_MAX,
): { readonly value: unknown; readonly note: string | null } {
  if (bytesOf(value) <= bytesMax) return { value, note: null };
  for (const elements of [50, 20, 10, 5, 2, 1, 0]) {
    const characters = Math.max(20, 40 * elements);
    const cut = startOf(value, elements, characters);
    const note = `Cut: the data is larger than ${bytesMax} bytes. Lists show at most ${elements} elements, and texts ${characters} characters.`;
    if (bytesOf(cut) <= bytesMax) return { value: cut, note };
  }
  return { value: null, note: `Cut: the data is larger than ${bytesMax} bytes, and no part of it fits.` };
}

function startOf(value: unknown, elements: number, characters: number): unknown {
  if (typeof value === 'string')
    return value.length > characters ? `${value.slice(0, characters).toWellFormed()}…` : value;
  if (Array.isArray(value))
    return value.slice(0, elements).map((element) => startOf(element, elements, characters));
  if (!isMembers(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, MEMBERS_MAX)
      .map(([name, member]) => [name.slice(0, 100), startOf(member, elements, characters)]),
  );
}

const MEMBERS_MAX = 100;

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? '');
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
