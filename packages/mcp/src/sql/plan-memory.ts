import { z } from 'zod';

/** Memory that sorts and hash tables of one statement share. Kilobytes. */
const SHARED_KB = 65_536;
/** Most and least of one sort or hash table; the least is that of Postgres. Kilobytes. */
const WORK_MEM_KB = { max: 8_192, min: 64 };
const NODES_WITH_MEMORY = /Sort|Aggregate|WindowAgg|Materialize|Memoize|CTE Scan|Function Scan|SetOp/;

/** Hash tables that never use the disk: their size depends on estimates that a statement can deceive. */
const UNBOUNDED_NODES = /^(?:Hash|SetOp|Recursive Union)$/;
const planShape = z.array(z.looseObject({ Plan: z.unknown() })).length(1);

/** Kilobytes of each sort and hash table; null if Postgres does not bound one. `explained`: EXPLAIN (VERBOSE, FORMAT JSON). */
export function workMemoryOf(explained: unknown, innerSorts: number): number | null {
  let holders = innerSorts;
  let isBounded = true;
  const look = (value: unknown): void => {
    if (typeof value === 'string') isBounded &&= !value.includes('hashed SubPlan');
    else if (Array.isArray(value)) value.forEach(look);
    else if (typeof value === 'object' && value !== null) {
      const type = 'Node Type' in value ? String(value['Node Type']) : '';
      if (NODES_WITH_MEMORY.test(type)) holders++;
      if (UNBOUNDED_NODES.test(type)) isBounded = false;
      Object.values(value).forEach(look);
    }
  };
  look(planShape.parse(explained));
  if (!isBounded) return null;
  return Math.min(WORK_MEM_KB.max, Math.max(WORK_MEM_KB.min, Math.floor(SHARED_KB / Math.max(1, holders))));
}
