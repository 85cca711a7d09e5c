import type { ClassificationFeatures } from './classification-features.ts';
import type { WalletTransaction } from './wallet-transaction.ts';

/** Prefixes of distribution functions, in any letter case. */
const NAMES = ['airdrop', 'multisend', 'multitransfer', 'disperse', 'batchtransfer'];

/** Selectors of such functions without a name in the embedded list. */
const SELECTORS: ReadonlySet<string> = new Set([
  '0x67243482',
  '0x633002d0',
  '0x1e89d545',
  '0xc73a2d60',
  '0x51ba162c',
  '0x83f12fec',
]);

/**
 * The wallet is one of many receivers: it didn't send the transaction and only receives. In addition, the method is a
 * distribution, or the same token goes from one source to at least ten receivers, in equal amounts or of a token in no
 * imported list. An exchange's payout of a listed token in different amounts is therefore not included.
 */
export function isDistribution(
  { method, selector, evidence, listed }: WalletTransaction,
  { isSender, paid, nftsOut, legsIn }: ClassificationFeatures,
): boolean {
  if (isSender || paid || nftsOut.length > 0) return false;
  const name = method?.toLowerCase() ?? '';
  if (selector !== null && SELECTORS.has(selector)) return true;
  if (NAMES.some((beginning) => name.startsWith(beginning))) return true;
  if (legsIn.length === 0 || !evidence.has('handedOut')) return false;
  return evidence.has('handedOutEqually') || !legsIn.some(({ token }) => listed.has(token));
}
