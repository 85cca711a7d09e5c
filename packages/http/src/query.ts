import { z } from '@hono/zod-openapi';

/** `name[]` and `name[0]`, the spellings of PHP and of qs. */
const BRACKETED = /^([^[\]]+)\[\d{0,6}\]$/;

/**
 * The schema of a route's query: scalar parameters, and array parameters in the four spellings that clients use
 * (`a[]=x&a[]=y`, `a[0]=x&a[1]=y`, `a=x&a=y`, `a=x,y`; docs/provider-contract.md#conventions). Unknown parameters are ignored.
 */
export function querySchema<Scalars extends z.core.$ZodShape, Arrays extends z.core.$ZodShape = Record<never, never>>(
  scalars: Scalars,
  arrays?: Arrays,
) {
  const arrayNames = new Set(Object.keys(arrays ?? {}));
  const shape = { ...scalars, ...arrays } as Scalars & Arrays;
  return z.transform((raw: unknown) => foldArrays(raw, arrayNames)).pipe(z.object(shape));
}

function foldArrays(raw: unknown, arrayNames: ReadonlySet<string>): unknown {
  if (arrayNames.size === 0 || typeof raw !== 'object' || raw === null) return raw;
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
