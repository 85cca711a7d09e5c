import type { Chain } from '@chainstead/chains';
import { type Logger, waitingAtMost } from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import { defineApiError, NotFoundError, type OnDemandBudget } from '@chainstead/http';
import {
  type NodeReadQueue,
  SILENCE_MS,
  StateUnavailableError,
  unlessUnavailable,
} from '@chainstead/node-reads/requests';
import { chainOfService, type NameAnswer, type NameQuestion, nameKind } from './name-chains.ts';

export interface NamesOptions {
  readonly database: Database;
  readonly nodeReads: NodeReadQueue;
  readonly chains: readonly Chain[];
  readonly budget: OnDemandBudget;
  readonly logger: Logger;
}

interface NameResolution {
  /**
   * @throws NotFoundError, NamesNotConfiguredError, StateUnavailableError, RateLimitedError,
   * NamesOffError
   */
  resolve(question: NameQuestion, requester: string): Promise<string>;
}

/** Milliseconds until a result is read again. */
const FRESH_MS = { found: 600_000, none: 60_000 } as const;

export function createNameResolution(options: NamesOptions): NameResolution {
  const { database, nodeReads, budget, logger } = options;

  const ask = (chain: Chain, question: NameQuestion) =>
    nodeReads.request(chain, nameKind, question, { fruitlessMs: SILENCE_MS });

  async function leave(chain: Chain, question: NameQuestion): Promise<void> {
    const read = waitingAtMost(0, () => ask(chain, question));
    await unlessUnavailable(logger, { message: 'A name is shown as it was read before', chain: chain.key }, read);
  }

  async function answerTo(question: NameQuestion, requester: string): Promise<NameAnswer> {
    const chain = chainOfService(options.chains, question.service);
    if (chain === null) throw new NamesNotConfiguredError(question.service);
    const stored = await readStoredName(database, question);
    if (stored !== null) {
      const freshMs = stored.answer === null ? FRESH_MS.none : FRESH_MS.found;
      if (stored.ageMs >= freshMs && budget.mayCall) await leave(chain, question);
      return stored;
    }
    if (!budget.mayCall) throw new NamesOffError();
    const answer = await budget.run(requester, () => ask(chain, question));
    if (answer === null) throw new StateUnavailableError('being read from the node');
    return answer;
  }

  return {
    async resolve(question, requester) {
      const { answer, offChain } = await answerTo(question, requester);
      if (offChain) throw new NotFoundError('name is resolved off chain');
      if (answer !== null) return answer;
      throw new NotFoundError(
        question.wanted === 'address' ? 'no address of this name' : 'no name of this address',
      );
    },
  };
}

const NOT_CONFIGURED = {
  ens: {
    message:
      'ENS names are read from Ethereum, but no Ethereum node is configured: set RPC_URLS_ETH, and list eth in GATEWAY_CHAINS next to the chains in CHAINS',
    key: 'RPC_URLS_ETH',
  },
  unstoppable: {
    message:
      'Unstoppable names are read from Polygon, Base and Ethereum, and no node of them is configured here: set RPC_URLS_POLYGON, and list polygon in GATEWAY_CHAINS next to the chains in CHAINS',
    key: 'RPC_URLS_POLYGON',
  },
} as const;

/** No node is configured for names of this service. A 501: a 404 would mean that the name does not exist. */
class NamesNotConfiguredError extends defineApiError(
  'NAMES_NOT_CONFIGURED',
  (service: NameQuestion['service']) => ({
    status: 501,
    message: NOT_CONFIGURED[service].message,
    details: { reason: 'not-offered', configuration_key: NOT_CONFIGURED[service].key },
  }),
) {}

class NamesOffError extends defineApiError('NAMES_OFF', () => ({
  status: 400,
  message: 'names are not stored yet, and ON_DEMAND_MAX_CALLS=0 prevents requests from reading them from a node',
  details: { reason: 'not-offered', configuration_key: 'ON_DEMAND_MAX_CALLS' },
})) {}

export type StoredName = NameAnswer & { readonly ageMs: number };

const FORGOTTEN_AT_ONCE = 10;

/** Null: not read within a day. */
export async function readStoredName(
  database: Database,
  { service, wanted, subject }: NameQuestion,
): Promise<StoredName | null> {
  const [stored] = await database.query<StoredName>(
    sql`SELECT answer, off_chain, CASE WHEN block_number IS NOT NULL THEN json_build_object('chainId', chain_id, 'block', block_number) END AS "asOf",
       (extract(epoch FROM clock_timestamp() - read_at) * 1000)::float8 AS "ageMs"
     FROM resolved_names WHERE service = ${service} AND wanted = ${wanted} AND subject = ${subject} AND read_at > now() - interval '1 day'`,
  );
  return stored ?? null;
}

/** Also deletes some that were read over a day ago. */
export async function saveName(
  database: Database,
  { service, wanted, subject }: NameQuestion,
  { answer, offChain, asOf }: NameAnswer,
): Promise<void> {
  await database.query(
    sql`INSERT INTO resolved_names (service, wanted, subject, answer, off_chain, chain_id, block_number, read_at)
     VALUES (${service}, ${wanted}, ${subject}, ${answer}, ${offChain}, ${asOf?.chainId ?? null}, ${asOf?.block ?? null}, clock_timestamp())
     ON CONFLICT (service, wanted, subject) DO UPDATE SET answer = excluded.answer, off_chain = excluded.off_chain, chain_id = excluded.chain_id,
       block_number = excluded.block_number, read_at = excluded.read_at`,
  );
  await database.query(
    sql`DELETE FROM resolved_names WHERE (service, wanted, subject) IN (
       SELECT service, wanted, subject FROM resolved_names WHERE read_at < now() - interval '1 day'
       ORDER BY read_at LIMIT ${FORGOTTEN_AT_ONCE} FOR UPDATE SKIP LOCKED)`,
  );
}
