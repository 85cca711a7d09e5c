import type { MemoryUse } from './memory.ts';
import type { PageWindow } from './page-load.ts';
import type { TableLook } from './table-probe.ts';
import type { Missing, WorldWindow } from './world.ts';

/** What a soak looked like in one stretch of time, and at its end. */
export interface Sample {
  /** Of the hold, at the end of the stretch. */
  readonly seconds: number;
  /** How long the stretch was. */
  readonly stretchSeconds: number;
  readonly checkpoint: number;
  /** How late the follower was, looked at several times a second. Milliseconds. */
  readonly lagsMs: readonly number[];
  readonly world: WorldWindow;
  /** Webhooks of blocks that are older than any that is on its way. */
  readonly late: Missing;
  readonly pages: PageWindow;
  /** By role; `postgres` is all of the server. */
  readonly memory: ReadonlyMap<string, MemoryUse>;
  readonly tables: readonly TableLook[];
  /** Processes that wanted a processor, in the mean of the last minute: whatever else the machine does counts too. */
  readonly load: number;
  /** What share of the processors' time the machine's host gave to others; null where it doesn't tell. */
  readonly stolen: number | null;
  /** Warnings and errors of the program by their text. */
  readonly complaints: Readonly<Record<string, number>>;
}
