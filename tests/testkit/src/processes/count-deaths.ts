import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

export interface DeathsPlan {
  /** A program of this Node, and its arguments. */
  readonly args: readonly string[];
  /** Whether there is nothing left for the program to do. */
  readonly isSettled: () => Promise<boolean>;
  /** After each death, before the program is started again. */
  readonly onDeath?: () => Promise<unknown>;
  /** @default 10 */
  readonly deathsMax?: number;
}

const LOOK_EVERY_MS = 50;
const PATIENCE_MS = 60_000;

/**
 * Starts a program again whenever it has died, as a supervisor would, until its work is settled or it has died too often.
 * Kills it then. @returns how often it died @throws Error when one that lives does not settle its work within a minute
 */
export async function countDeaths({ args, isSettled, onDeath, deathsMax = 10 }: DeathsPlan): Promise<number> {
  let deaths = 0;
  while (deaths < deathsMax) {
    const program = spawn(process.execPath, args, { stdio: 'ignore' });
    const ended = once(program, 'exit');
    const looking = new AbortController();
    try {
      const died = ended.then(() => true);
      const isDead = await Promise.race([died, settles(isSettled, looking.signal).then(() => false)]);
      if (!isDead) return deaths;
    } finally {
      looking.abort();
      program.kill('SIGKILL');
      await ended;
    }
    deaths += 1;
    await onDeath?.();
  }
  return deaths;
}

async function settles(isSettled: () => Promise<boolean>, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!signal.aborted && !(await isSettled())) {
    if (performance.now() > deadline)
      throw new Error(`The program lives, and did not settle its work in ${PATIENCE_MS} ms`);
    await sleep(LOOK_EVERY_MS);
  }
}
