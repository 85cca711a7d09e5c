import { keccak256Hex } from '@chainstead/core';

/** `_from`: `from_`, as `FROM` is reserved. May be empty. @param bytesMax longer: cut, hashed */
export function sqlName(name: string, bytesMax: number): string {
  const snake = name
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .toLowerCase()
    .replaceAll(/^_+|_+$/g, '');
  const whole = RESERVED.has(snake) ? `${snake}_` : /^\d/.test(snake) ? `n${snake}` : snake;
  return cutName(whole, bytesMax);
}

export function cutName(name: string, bytesMax: number): string {
  if (name.length <= bytesMax) return name;
  const hash = keccak256Hex(Buffer.from(name)).slice(2, 2 + HASH_DIGITS);
  return `${name.slice(0, bytesMax - HASH_DIGITS - 1)}_${hash}`;
}

export function distinctNames(names: readonly string[], taken: readonly string[]): readonly string[] {
  const used = new Set(taken);
  // A later name may look numbered: names without a number are given out first.
  const kept = names.map((name) => {
    if (used.has(name)) return null;
    used.add(name);
    return name;
  });
  return names.map((name, position) => kept[position] ?? numbered(name, used));
}

function numbered(name: string, used: Set<string>): string {
  for (let number = 2; ; number++) {
    const found = `${name}_${number}`;
    if (used.has(found)) continue;
    used.add(found);
    return found;
  }
}

const HASH_DIGITS = 8;

/**
 * @see https://www.postgresql.org/docs/current/sql-keywords-appendix.html "reserved"
 * @see https://www.postgresql.org/docs/current/ddl-system-columns.html
 */
const RESERVED: ReadonlySet<string> = new Set(
  `all analyse analyze and any array as asc asymmetric authorization binary both case cast check collate collation column concurrently constraint
  create cross current_catalog current_date current_role current_schema current_time current_timestamp current_user default deferrable desc distinct
  do else end except false fetch for foreign freeze from full grant group having ilike in initially inner intersect into is isnull join lateral
  leading left like limit localtime localtimestamp natural not notnull null offset on only or order outer overlaps placing primary references
  returning right select session_user similar some symmetric system_user table tablesample then to trailing true union unique user using variadic
  verbose when where window with
  cmax cmin ctid tableoid xmax xmin`.split(/\s+/),
);
