import { setTimeout as sleep } from 'node:timers/promises';
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type Database } from '@chainstead/db';
import PQueue from 'p-queue';
import { retryDeadlock } from '../commit-retry.ts';
import { buildKeptPiece, type KeptOf, type KeptProgress } from './build-kept.ts';

/** Keeps states of subjects that are asked about. */
export interface KeptSubjects {
  /**
   * Has the state kept of the subject from now on, and waits for it.
   * @param waitMs how long; the building goes on after that
   */
  keep(chain: Chain, of: KeptOf, subject: Address, waitMs: number): Promise<KeptProgress>;
}

/** That a subject is asked about is written down so often: what nobody asks about is forgotten after weeks. */
const ASKED_AGAIN = "interval '6 hours'";

export function createKeptSubjects(database: Database): KeptSubjects {
  const builds = new Map<string, Promise<KeptProgress>>();

  const turns = new Map<number, PQueue>();

  function turnsOf(chain: Chain): PQueue {
    const known = turns.get(chain.id) ?? new PQueue({ concurrency: 1 });
    turns.set(chain.id, known);
    return known;
  }

  /**
   * A piece at a time, whoever is asked about: each holds up the commits of the chain, which are to have half of the time. Those who wait for
   * the same lock get it in turn, so that many at once would keep the follower waiting for all of them.
   */
  function inTurn(chain: Chain, piece: () => Promise<KeptProgress>): Promise<KeptProgress> {
    const queue = turnsOf(chain);
    return queue.add(async () => {
      const started = performance.now();
      try {
        return await piece();
      } finally {
        void queue.add(() => sleep(performance.now() - started), { priority: 1 });
      }
    });
  }

  async function build(chain: Chain, of: KeptOf, subject: Address): Promise<KeptProgress> {
    for (;;) {
      const progress = await inTurn(chain, () => retryDeadlock(() => buildKeptPiece(database, chain, of, subject)));
      if (progress !== 'building') return progress;
    }
  }

  function buildOnce(chain: Chain, of: KeptOf, subject: Address): Promise<KeptProgress> {
    const key = `${chain.id} ${of.state.name} ${subject}`;
    const running = builds.get(key);
    if (running !== undefined) return running;
    const begun = build(chain, of, subject).finally(() => builds.delete(key));
    builds.set(key, begun);
    return begun;
  }

  return {
    async keep(chain, of, subject, waitMs) {
      if (await isBuilt(database, chain, of, subject)) return 'built';
      const building = buildOnce(chain, of, subject);
      return Promise.race([building, after(waitMs, building)]);
    },
  };
}

/** Whether the subject's rows are all counted. Writes down that it was asked about. */
async function isBuilt(database: Database, chain: Chain, { state }: KeptOf, subject: Address): Promise<boolean> {
  const key = [chain.id, state.name, addressBytes(subject), state.version];
  const [found] = await database.query<{ is_old: boolean }>(
    `SELECT kept.asked_at < now() - ${ASKED_AGAIN} AS is_old FROM kept_subjects AS kept
      WHERE chain_id = $1 AND state = $2 AND subject = $3 AND built_to IS NULL AND NOT is_stale
        AND EXISTS (SELECT FROM derived_states AS known WHERE known.chain_id = $1 AND known.state = $2 AND known.version = $4)`,
    key,
  );
  if (found?.is_old === true)
    await database.query(
      'UPDATE kept_subjects SET asked_at = now() WHERE chain_id = $1 AND state = $2 AND subject = $3',
      key.slice(0, 3),
    );
  return found !== undefined;
}

async function after(ms: number, building: Promise<unknown>): Promise<KeptProgress> {
  let timer: NodeJS.Timeout | undefined;
  const passed = new Promise<KeptProgress>((resolve) => {
    timer = setTimeout(() => resolve('building'), ms);
  });
  // Nobody may be left to hear of a build that fails later: the next request tries it again.
  building.then(
    () => clearTimeout(timer),
    () => clearTimeout(timer),
  );
  return passed;
}
