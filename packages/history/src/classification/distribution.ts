import type { Terms } from './terms.ts';
import type { WalletTransaction } from './wallet-transaction.ts';

/** Names of functions that give something to many begin so, whatever the case of their letters. */
const NAMES = ['airdrop', 'multisend', 'multitransfer', 'disperse', 'batchtransfer'];

/** Selectors of such functions that carry no name in the embedded list. */
const SELECTORS: ReadonlySet<string> = new Set([
  '0x67243482',
  '0x633002d0',
  '0x1e89d545',
  '0xc73a2d60',
  '0x51ba162c',
  '0x83f12fec',
]);

/**
 * Whether the wallet is one of many that were given something: it didn't send the transaction and only receives, and the method is one that
 * distributes, or the same token goes from one source to at least ten receivers, in equal amounts or of a token that no imported list names. So an
 * exchange's payout of a listed token in different amounts is none.
 */
export function isDistribution(transaction: WalletTransaction, terms: Terms): boolean {
  if (terms.isSender || terms.paid || terms.nftsOut.length > 0) return false;
  return distributes(transaction) || goesToMany(transaction, terms);
}

function distributes({ method, selector }: WalletTransaction): boolean {
  if (selector !== null && SELECTORS.has(selector)) return true;
  const name = method?.toLowerCase() ?? '';
  return NAMES.some((beginning) => name.startsWith(beginning));
}

function goesToMany({ evidence, listed }: WalletTransaction, { legsIn }: Terms): boolean {
  if (legsIn.length === 0 || !evidence.has('handedOut')) return false;
  return evidence.has('handedOutEqually') || !legsIn.some(({ token }) => listed.has(token));
}
