import { type BlockRange, intersectRanges, mergeRanges, subtractRanges } from '@chainstead/core';
import { listCoverage } from '../coverage/coverage.ts';
import type { CoveredRange } from '../coverage/retained-from.ts';
import type { RangeSubject } from '../coverage/subject.ts';
import { listSubjectRanges } from '../coverage/subject.ts';
import type { Dataset } from '../dataset/dataset.ts';
import { awaitMore, type HistoryOutcome } from './claim-history.ts';
import { refuseWithoutSent } from './history-record.ts';
import { endOfTurn, type HistoryTurn } from './history-turn.ts';
import { filtersOf } from './read-subject-logs.ts';
import { writeTransactions } from './write-transactions.ts';

const LISTED = 1_000;

/** @returns `waits` while a wallet search finds the transactions */
export async function readSentRows(turn: HistoryTurn, signal: AbortSignal): Promise<HistoryOutcome> {
  const { chain, database, subject, sentTransactions: sent, maxCalls } = turn;
  if (sent === undefined) return 'done';
  const searched = await sent.knownBlocks(database, chain, subject.address);
  let isMissing = false;
  for (const dataset of turn.datasets.filter((candidate) => filtersOf(candidate, chain, subject).length > 0)) {
    const missing = await missingBlocks(turn, dataset);
    isMissing ||= subtractRanges(missing, searched).length > 0;
    for (const range of intersectRanges(missing, searched).toReversed()) {
      const ended = await readSentOf(turn, dataset, range, signal);
      if (ended !== null) return ended;
    }
  }
  if (!isMissing) return 'done';
  const obstacle = await sent.search(database, chain, subject.address, maxCalls);
  if (obstacle === null) return awaitMore(turn, subject, 'Transactions that the account sent are being searched');
  await refuseWithoutSent(database, subject, obstacle);
  return 'refused';
}

const sentSubject = ({ subject }: HistoryTurn): RangeSubject => ({ ...subject, kind: 'trader-sent' });

async function missingBlocks(turn: HistoryTurn, { name }: Dataset): Promise<readonly BlockRange[]> {
  const { chain, database, subject } = turn;
  const ofDataset = (records: readonly CoveredRange[]) =>
    records.flatMap(({ dataset, range }) => (dataset === name ? [range] : []));
  const ofLogs = ofDataset(await listSubjectRanges(database, subject));
  const done = ofDataset(await listSubjectRanges(database, sentSubject(turn)));
  const coverage = ofDataset(await listCoverage(database, chain.id));
  return subtractRanges(ofLogs, mergeRanges([...done, ...coverage]));
}

async function readSentOf(turn: HistoryTurn, dataset: Dataset, range: BlockRange, signal: AbortSignal) {
  const { chain, database, subject, sentTransactions: sent } = turn;
  let { to } = range;
  for (;;) {
    signal.throwIfAborted();
    const ended = await endOfTurn(turn);
    if (ended !== null) return ended;
    const wanted = { account: subject.address, range: { from: range.from, to }, limit: LISTED };
    const found = (await sent?.list(database, chain, wanted)) ?? [];
    const oldest = found.length < LISTED ? undefined : found.at(-1)?.block;
    const from = oldest ?? range.from;
    const chunk = { dataset, range: { from, to }, found, calls: 0 };
    const stopped = await writeTransactions(turn, { ...chunk, recordedAs: sentSubject(turn) }, signal);
    if (stopped !== null || from === range.from) return stopped;
    to = from - 1;
  }
}
