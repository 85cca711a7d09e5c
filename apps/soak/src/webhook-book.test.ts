import { describe, expect, it } from 'vitest';
import { factsOf } from './block-facts.ts';
import { createWebhookBook } from './webhook-book.ts';

const facts = factsOf([]);
const EVER = Number.POSITIVE_INFINITY;

/** Ten blocks; of each, the first stream is to hear, and of odd ones the second. */
function bookOfTen() {
  const book = createWebhookBook();
  for (let number = 0; number < 10; number++)
    book.mined({ number, hash: `h${number}`, facts, streams: number % 2 === 0 ? [0] : [0, 1] }, 100 * number);
  return book;
}

const webhook = (stream: number, blockHash: string, confirmed = false, retries = 0) => ({
  stream,
  blockHash,
  confirmed,
  retries,
});

describe('createWebhookBook', () => {
  it('counts what has not come, confirmed webhooks only of blocks that are deep enough', () => {
    const book = bookOfTen();
    expect(book.missing(9, 3, EVER)).toEqual({ unconfirmed: 15, confirmed: 10 });
    book.received(webhook(1, 'h3'));
    book.received(webhook(0, 'h0', true));
    expect(book.missing(9, 3, EVER)).toEqual({ unconfirmed: 14, confirmed: 9 });
    expect(book.missing(1, 3, EVER)).toEqual({ unconfirmed: 3, confirmed: 0 });
    expect(book.missing(9, 99, 150).unconfirmed).toBe(3);
  });

  it('tells a webhook that came twice from one that says that it is repeated', () => {
    const book = bookOfTen();
    const outcomes = [webhook(0, 'h1'), webhook(0, 'h1'), webhook(0, 'h1', false, 1), webhook(0, 'h1', true)];
    expect(outcomes.map((one) => book.received(one).outcome)).toEqual(['first', 'twice', 'repeated', 'first']);
  });

  it('knows when the block of a webhook was made', () => {
    expect(bookOfTen().received(webhook(0, 'h7'))).toEqual({ outcome: 'first', minedAt: 700 });
  });

  it('finds webhooks that nobody asked for', () => {
    const book = bookOfTen();
    expect(book.received(webhook(1, 'h2')).outcome).toBe('unasked');
    expect(book.received(webhook(0, 'elsewhere')).outcome).toBe('unasked');
  });

  it('waits for nothing of a block that left the chain, and allows it what was on its way, but not a confirmed webhook', () => {
    const book = bookOfTen();
    book.dropped(8);
    book.mined({ number: 8, hash: 'other', facts, streams: [1] }, 900);
    expect(book.missing(9, 0, EVER).unconfirmed).toBe(13);
    expect(book.received(webhook(0, 'h8')).outcome).toBe('first');
    expect(book.received(webhook(0, 'h8', true)).outcome).toBe('orphaned');
    expect(
      book
        .facts(9)
        .map(({ hash }) => hash)
        .slice(-2),
    ).toEqual(['h7', 'other']);
    expect(book.minedAt(8)).toBe(900);
    expect(book.minedAt(9)).toBeNull();
  });
});
