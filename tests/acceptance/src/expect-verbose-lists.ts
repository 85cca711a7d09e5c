import type { Chain } from '@chainstead/chains';
import { ZERO_ADDRESS } from '@chainstead/core';
import { expect } from 'vitest';
import { expectedEvent, type expectedTransaction } from './expected-transactions.ts';
import type { StoredBlocksStage } from './stored-blocks-stage.ts';

type Expected = NonNullable<ReturnType<typeof expectedTransaction>>;

/** Senders of a block whose lists are looked at. */
const SENDERS = 3;

/** The verbose lists of some senders of a block have its transactions with all of their logs, of the index alone. */
export async function expectVerboseLists(
  stage: Pick<StoredBlocksStage, 'ask'>,
  chain: Chain,
  transactions: readonly Expected[],
): Promise<void> {
  const talkative = transactions.toSorted((one, other) => other.logs.length - one.logs.length);
  // The zero address has no owner.
  const senders = new Set(
    talkative.map(({ from_address: from }) => from).filter((from) => from !== ZERO_ADDRESS),
  );
  for (const sender of [...senders].slice(0, SENDERS)) {
    const block = transactions[0]?.block_number;
    const { status, body } = await stage.ask(
      `${sender}/verbose?chain=${chain.id}&order=ASC&from_block=${block}&to_block=${block}`,
    );
    const own = transactions.filter(({ from_address: from, to_address: to, receipt_contract_address: created }) =>
      [from, to, created].includes(sender),
    );
    const expected = own.slice(0, 100).map((one) =>
      expect.objectContaining({
        ...one,
        logs: one.logs.map((log) => ({ ...log, decoded_event: expectedEvent(log) })),
      }),
    );
    expect([sender, status, Object(body).result]).toEqual([sender, 200, expected]);
  }
}
