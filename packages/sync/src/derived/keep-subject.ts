import type { Chain } from '@chainstead/chains';
import type { Address, Registry } from '@chainstead/core';
import { addressBytes, type Database } from '@chainstead/db';
import type { SubjectState } from '../dataset.ts';
import type { SubjectProgress } from './build-subjects.ts';
import { createBuildTurns } from './build-turns.ts';
import type { StateOf } from './counted-rows.ts';
import { createKeptMetrics } from './kept-metrics.ts';

/** Keeps states of subjects that are asked about. */
export interface KeptSubjects {
  /**
   * Has the state kept of the subject from now on, and waits for it.
   * @param waitMs how long; the building goes on after that
   */
  keep(chain: Chain, of: StateOf<SubjectState>, subject: Address, waitMs: number): Promise<SubjectProgress>;
}

/** That a subject is asked about is written down so often: what nobody asks about is forgotten after weeks. */
const ASKED_AGAIN = "interval '6 hours'";

/**
 * Whether it is written down lately that somebody asked about the subject, in SQL: whoever finds it kept need not call {@link KeptSubjects.keep}
 * then. @param subject its 20 bytes
 */
export function isAskNoted(chainId: string, subject: string, { name }: Pick<SubjectState, 'name'>): string {
  return `EXISTS (SELECT FROM kept_subjects AS noted WHERE noted.chain_id = ${chainId} AND noted.state = '${name}' AND noted.subject = ${subject}
    AND ${isNoted('noted')})`;
}

/** As {@link isAskNoted}, of a row of `kept_subjects`. */
export function isNoted(row: string): string {
  return `${row}.asked_at >= now() - ${ASKED_AGAIN}`;
}

/** @param metrics where what is built is counted; default nowhere */
export function createKeptSubjects(database: Database, metrics?: Registry): KeptSubjects {
  const measured = metrics === undefined ? null : createKeptMetrics(metrics);
  const builds = new Map<string, Promise<SubjectProgress>>();
  const turns = createBuildTurns(database);

  async function build(chain: Chain, of: StateOf<SubjectState>, subject: Address): Promise<SubjectProgress> {
    const ended = measured?.began(chain.key, of.state.name);
    try {
      const progress = await buildPieces(chain, of, subject);
      ended?.(progress);
      return progress;
    } catch (error) {
      ended?.('failed');
      throw error;
    }
  }

  async function buildPieces(chain: Chain, of: StateOf<SubjectState>, subject: Address): Promise<'built' | 'waiting'> {
    for (let isBegun = false; ; isBegun = true) {
      const progress = await turns.nextPiece(chain, of, subject, isBegun);
      if (progress !== 'building') return progress;
    }
  }

  function buildOnce(chain: Chain, of: StateOf<SubjectState>, subject: Address): Promise<SubjectProgress> {
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
async function isBuilt(
  database: Database,
  chain: Chain,
  { state }: StateOf<SubjectState>,
  subject: Address,
): Promise<boolean> {
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

async function after(ms: number, building: Promise<unknown>): Promise<SubjectProgress> {
  let timer: NodeJS.Timeout | undefined;
  const passed = new Promise<SubjectProgress>((resolve) => {
    timer = setTimeout(() => resolve('building'), ms);
  });
  // Nobody may be left to hear of a build that fails later: the next request tries it again.
  building.then(
    () => clearTimeout(timer),
    () => clearTimeout(timer),
  );
  return passed;
}
