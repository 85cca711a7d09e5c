import type { Address } from '@chainstead/core';
import type { EnrichedMatch } from '../payload/render-body.ts';
import type { WebhookContents } from '../payload/webhook.ts';
import type { NativeBalanceSelector } from '../stream.ts';
import { answerOf, type BlockState } from './block-state.ts';
import type { Unanswered } from './read-triggers.ts';
import { itemsOf, selectedAddress } from './selector-value.ts';

/** Addresses whose balances are wanted, each once, in the order of the selectors and for each in that of the items. */
export function balanceAddresses(selectors: readonly NativeBalanceSelector[], contents: WebhookContents): Address[] {
  const addresses = selectors.flatMap(({ type, selectors: names }) =>
    names.flatMap((name) => itemsOf(type, contents).map((item) => selectedAddress(name, item))),
  );
  return [...new Set(addresses.filter((address) => address !== null))];
}

/**
 * Their balances after the block. An address whose balance a node refuses to tell is left out, and so is one that no node
 * answers for when that is to be shown. @throws what `state` throws when no node answers otherwise
 */
export async function readBalances(
  addresses: readonly Address[],
  state: BlockState,
  unanswered: Unanswered,
): Promise<EnrichedMatch['nativeBalances']> {
  const settled = await Promise.allSettled(addresses.map((address) => state.balance(address)));
  return addresses.flatMap((address, index) => {
    const reading = settled[index];
    if (reading?.status === 'fulfilled') return [{ address, wei: reading.value }];
    if (answerOf(reading?.reason) !== null || unanswered === 'show') return [];
    throw reading?.reason;
  });
}
