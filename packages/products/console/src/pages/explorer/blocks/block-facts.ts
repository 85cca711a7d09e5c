import type { Chain } from '@chainstead/chains';
import { type Hash, parseHash } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { InvalidParameterError } from '@chainstead/http';
import { knownBlock, type StateBlock } from '@chainstead/node-reads';
import { type DatasetCoverage, listCoverage } from '@chainstead/sync/requests';
import { html } from 'hono/html';
import type { RowPlace } from '../../../block-rows/read-block-rows.ts';
import { cut, type Html, shown } from '../../../layout/html.ts';
import { moment } from '../../../layout/numbers.ts';
import { table } from '../../../layout/table.ts';
import { meaningOf } from '../../overview/coverage-strip.ts';
import { readSubject } from '../subjects/read-subject.ts';

interface BlockFacts {
  readonly chain: Chain;
  /** Null: header not stored. In backfilled history, only blocks with rows have one. */
  readonly block: StateBlock | null;
  readonly coverage: readonly DatasetCoverage[];
}

export async function readBlockFacts(database: Database, chain: Chain, number: number): Promise<BlockFacts> {
  const [block, coverage] = await Promise.all([
    knownBlock(database, chain, number),
    listCoverage(database, chain.id, { from: number, to: number }),
  ]);
  return { chain, block, coverage };
}

export function isKnown({ block, coverage }: BlockFacts): boolean {
  return block !== null || coverage.length > 0;
}

export function blockFactsView({ block, coverage }: BlockFacts): Html {
  const rows = coverage.map(({ dataset, proof, reason }) => [
    shown(dataset),
    html`${meaningOf(proof)}${reason !== null && html`: ${shown(reason)}`}`,
  ]);
  return html`<dl class="record"><div><dt>Hash</dt><dd>${block === null ? 'not stored: the block has no rows or is not indexed' : html`<code>${block.hash}</code>`}</dd></div>
${block !== null && html`<div><dt>Time</dt><dd>${moment(new Date(block.timestamp * 1_000))}</dd></div>`}</dl>
${
  rows.length === 0
    ? html`<p class="soft">No dataset covers this block.</p>`
    : html`<details><summary>Proof by dataset</summary>${table({ label: 'Proof', columns: ['Dataset', 'Proof'], rows })}</details>`
}`;
}

const BLOCK = /^\d{1,15}$/;
const PLACE = /^(\d{1,9})\.(\d{1,9})\.(\d{1,9})$/;

export function blockIn(text: string): number {
  if (!BLOCK.test(text))
    throw new InvalidParameterError({ parameter: 'block', given: cut(text), allowed: 'a whole number' });
  return Number(text);
}

export function hashIn(text: string): Hash {
  if (readSubject(text)?.kind !== 'hash') throw refusedHash(text);
  return parseHash(text.trim());
}
export function refusedHash(text: string): InvalidParameterError {
  const allowed = '0x and 64 hexadecimal digits';
  return new InvalidParameterError({ parameter: 'hash', given: cut(text), allowed });
}

export function placeIn(text: string | undefined): RowPlace | null {
  if (text === undefined) return null;
  const [, transactionIndex, logIndex, item] = PLACE.exec(text) ?? [];
  const allowed = 'the cursor of a link on the page';
  if (item === undefined) throw new InvalidParameterError({ parameter: 'after', given: cut(text), allowed });
  return { transactionIndex: Number(transactionIndex), logIndex: Number(logIndex), item: Number(item) };
}
