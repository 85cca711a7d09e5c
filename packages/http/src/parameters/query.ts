import { z } from '@hono/zod-openapi';

/** `name[]` and `name[0]`, the notations of PHP and qs. */
const BRACKETED = /^([^[\]]+)\[\d{0,6}\]$/;

/**
 * Returns the schema of a route's query: scalar parameters, and array parameters in the four common notations
 * (`a[]=x&a[]=y`, `a[0]=x&a[1]=y`, `a=x&a=y`, `a=x,y`; docs/api/index.md#conventions). Unknown parameters are ignored.
 * @param spellings names by another spelling that is accepted too, if the name itself is not given
 */
export function querySchema<Scalars extends z.core.$ZodShape, Arrays extends z.core.$ZodShape = Record<never, never>>(
  scalars: Scalars,
  arrays?: Arrays,
  spellings: Readonly<Record<string, string>> = {},
) {
  const arrayNames = new Set(Object.keys(arrays ?? {}));
  const shape = { ...scalars, ...arrays } as Scalars & Arrays;
  const normalize = (raw: unknown): unknown => {
    if (typeof raw !== 'object' || raw === null) return raw;
    const query: Record<string, unknown> = { ...raw };
    for (const [spelling, name] of Object.entries(spellings)) query[name] ??= query[spelling];
    return foldArrays(query, arrayNames);
  };
  return z.transform(normalize).pipe(z.object(shape));
}
function foldArrays(raw: Record<string, unknown>, arrayNames: ReadonlySet<string>): unknown {
  if (arrayNames.size === 0) return raw;
  const folded: Record<string, unknown> = {};
  const lists = new Map<string, string[]>();
  for (const [key, value] of Object.entries(raw)) {
    const name = arrayNames.has(key) ? key : BRACKETED.exec(key)?.[1];
    if (name === undefined || !arrayNames.has(name)) {
      folded[key] = value;
      continue;
    }
    const items = (Array.isArray(value) ? value : [value]).flatMap((item: unknown) => String(item).split(','));
    lists.set(name, [...(lists.get(name) ?? []), ...items]);
  }
  for (const [name, items] of lists) folded[name] = items;
  return folded;
}
