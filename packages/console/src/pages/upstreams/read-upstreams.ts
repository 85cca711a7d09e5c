import type { Database } from '@chainstead/db';
import { keepForSecond } from '@chainstead/http';
import { listWrongAnswers, readUpstreamCalls, type WrongAnswerRecord } from '@chainstead/sync';
import type { ChainFacts, OverviewSource } from '../overview/read-overview.ts';
import { type NodeAddress, nodeAddresses } from './node-address.ts';
import { type ConfiguredUpstream, type ReportedNode, type UpstreamRow, upstreamRows } from './upstream-row.ts';

/** The state of all nodes at one moment. */
export interface Upstreams {
  readonly rows: readonly UpstreamRow[];
  /** The newest ones. */
  readonly wrongAnswers: readonly WrongAnswerRecord[];
  readonly at: Date;
}

export interface UpstreamsSource {
  /** Reads at most once a second, for any number of viewers. */
  read(): Promise<Upstreams>;
  readonly addressOf: NodeAddress;
}

/** Window of the counts. */
export const HOURS = 1;
/** Maximum incorrect responses shown; a separate page has the rest. */
const WRONG_ANSWERS_SHOWN = 10;

export function createUpstreamsSource(options: {
  readonly database: Database;
  readonly overview: OverviewSource;
  readonly configured: readonly ConfiguredUpstream[];
}): UpstreamsSource {
  const { database, overview, configured } = options;
  const read = keepForSecond(async () => {
    const [facts, calls, wrongAnswers, { at }] = await Promise.all([
      overview.chains(),
      readUpstreamCalls(database, HOURS),
      listWrongAnswers(database, null, WRONG_ANSWERS_SHOWN),
      overview.read(),
    ]);
    return { rows: upstreamRows(configured, facts.flatMap(reportedNodes), calls), wrongAnswers, at };
  });
  return { read, addressOf: nodeAddresses(configured) };
}

function reportedNodes(facts: ChainFacts): ReportedNode[] {
  const chain = facts.card.name;
  if (facts.kind === 'evm') return facts.status.upstreams.map((upstream) => ({ ...upstream, chain }));
  return facts.status.fullnodes.map((fullnode) => ({ ...fullnode, chain, latencyMs: null }));
}
