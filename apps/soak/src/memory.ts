import { readdir, readFile } from 'node:fs/promises';

/** Memory of one process of the program, or of all of Postgres. Bytes. */
export interface MemoryUse {
  /** Resident; of Postgres the proportional share, so that what its processes share counts once. */
  readonly rss: number;
  /** JavaScript objects; null for Postgres. */
  readonly heap: number | null;
}

const RSS = 'process_resident_memory_bytes';
const HEAP = 'nodejs_heap_size_used_bytes';

/** The memory of each role's process, read from the text of `/metrics`. */
export function memoryInMetrics(text: string): Map<string, MemoryUse> {
  const values = new Map<string, number>();
  for (const line of text.split('\n')) {
    const found = /^(\w+)\{[^}]*role="([a-z]+)"[^}]*\} (\S+)/.exec(line);
    const [, name = '', role = '', value = ''] = found ?? [];
    if (name === RSS || name === HEAP) values.set(`${name} ${role}`, Number(value));
  }
  const uses = new Map<string, MemoryUse>();
  for (const [key, rss] of values) {
    const [name, role = ''] = key.split(' ');
    if (name === RSS) uses.set(role, { rss, heap: values.get(`${HEAP} ${role}`) ?? null });
  }
  return uses;
}

/** Of a process and all that it started; null where the machine doesn't tell (no Linux, or processes of another user). */
export async function treeMemory(pid: number): Promise<MemoryUse | null> {
  const children = await childrenByParent();
  const waiting = [pid];
  let rss = 0;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const text = await read(`/proc/${next}/smaps_rollup`);
    const kilobytes = /^Pss:\s+(\d+) kB$/m.exec(text ?? '')?.[1];
    if (kilobytes === undefined && next === pid) return null;
    rss += Number(kilobytes ?? 0) * 1_024;
    waiting.push(...(children.get(next) ?? []));
  }
  return { rss, heap: null };
}

async function childrenByParent(): Promise<Map<number, number[]>> {
  const children = new Map<number, number[]>();
  const pids = (await readdir('/proc').catch(unlessUnreadable)) ?? [];
  for (const pid of pids.filter((name) => /^\d+$/.test(name))) {
    // The name in parentheses may hold spaces and parentheses; the parent is the second field after it.
    const parent = Number((await read(`/proc/${pid}/stat`))?.replace(/^.*\) /s, '').split(' ')[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(pid)]);
  }
  return children;
}

async function read(path: string): Promise<string | null> {
  return await readFile(path, 'utf8').catch(unlessUnreadable);
}

/** A process that ended meanwhile, another user's, or no /proc at all. */
function unlessUnreadable(error: unknown): null {
  if (error instanceof Error && 'code' in error && /^(?:ENOENT|ESRCH|EACCES|EPERM)$/.test(String(error.code)))
    return null;
  throw error;
}
