import { InvalidParameterError, NotFoundError } from '@chainstead/http';
import { html } from 'hono/html';
import type { ConsoleRoutes, ConsoleServices } from '../../console-page.ts';
import { cut } from '../../layout/html.ts';
import { blockIn, hashIn } from './blocks/block-parameters.ts';
import { BLOCK } from './full/block-record.ts';
import { partView } from './full/full-view.ts';
import { readFull } from './full/read-full.ts';
import { TRANSACTION } from './full/transaction-record.ts';
import { chainNamed, placeOn } from './subjects/choose-chain.ts';

const ROWS = 50;
/** Longer, as it is the page's only content. Milliseconds. */
const PATIENCE_MS = 60_000;

/** Adds pages of the lists within a transaction and a block. */
export function addFullRoutes(routes: ConsoleRoutes, { explorer, registry }: ConsoleServices): void {
  routes.view('/look-up/whole/:record/:part', async ({ parameter, query, origin, asker }) => {
    const record = [TRANSACTION, BLOCK].find(({ name }) => name === parameter('record'));
    const part = record?.parts.find(({ name }) => name === parameter('part'));
    if (record === undefined || part === undefined)
      throw new NotFoundError(`There is no list ${cut(parameter('part'), 40)}`);
    const chain = chainNamed({ registry, chains: explorer.chains }, query('chain') ?? '');
    const given = query('of') ?? '';
    const of = record === BLOCK ? String(blockIn(given)) : hashIn(given);
    const from = placeIn(query('from') ?? '0');
    const subject = { chain: chain.key, of };
    const answer = await readFull(explorer.data, asker, record, subject, PATIENCE_MS);
    const own = record === BLOCK ? `block/${of}` : `transaction/${of}`;
    const context = { ...subject, place: placeOn(chain), origin };
    return {
      title: part.title,
      body: html`<h1><a href="/console/look-up/${own}?chain=${chain.key}">${record === BLOCK ? 'Block' : 'Transaction'} <code>${of}</code></a> of ${chain.key}</h1>
${partView(record, part, answer, { context, from, rowsMax: ROWS })}`,
    };
  });
}

/** @throws InvalidParameterError */
function placeIn(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidParameterError({ parameter: 'from', given: cut(text), allowed: 'a whole number' });
}
