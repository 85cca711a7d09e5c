import { readFileSync } from 'node:fs';

/** Seconds of processor time, by who used them. */
export interface ProcessorTime {
  /** Processes that this one started and that have ended, with all that they had started. */
  readonly program: number;
  readonly node: number;
  readonly postgres: number;
}

/** Reads what was used so far; null where the machine has no `/proc`, or the server is on another one. */
export function readProcessorTime(nodePid: number, postmasterPid: number): ProcessorTime | null {
  try {
    if (!/^postgres/.test(readFileSync(`/proc/${postmasterPid}/comm`, 'utf8'))) return null;
    return { program: timesOf('self').ended, node: timesOf(nodePid).own, postgres: withChildren(postmasterPid) };
  } catch (error) {
    if (isGone(error)) return null;
    throw error;
  }
}

export function timeBetween(before: ProcessorTime, after: ProcessorTime): ProcessorTime {
  return {
    program: after.program - before.program,
    node: after.node - before.node,
    postgres: after.postgres - before.postgres,
  };
}

/** Of a process, those it has and those it had. */
function withChildren(pid: number): number {
  const { own, ended } = timesOf(pid);
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
  return own + ended + children.reduce((sum, child) => sum + (unlessGone(() => withChildren(Number(child))) ?? 0), 0);
}

/** A session may end between the look at the list and the look at it; it is then among those that have ended. */
function unlessGone<Value>(read: () => Value): Value | null {
  try {
    return read();
  } catch (error) {
    if (isGone(error)) return null;
    throw error;
  }
}

/** Of Linux, on all common processors. */
const TICKS_PER_SECOND = 100;
/** Places behind the name of the program, which may hold spaces: utime, stime, and the same of children that were waited for. */
const FIRST_TIME = 11;

function timesOf(pid: number | 'self'): { readonly own: number; readonly ended: number } {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(FIRST_TIME, FIRST_TIME + 4).map(Number);
  return { own: (user + system) / TICKS_PER_SECOND, ended: (endedUser + endedSystem) / TICKS_PER_SECOND };
}

function isGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH');
}
