import type { ClassificationFeatures } from './classification-features.ts';
import type { WalletTransaction } from './wallet-transaction.ts';

const NAMES = ['airdrop', 'multisend', 'multitransfer', 'disperse', 'batchtransfer'];

const SELECTORS: ReadonlySet<string> = new Set([
  '0x67243482',
  '0x633002d0',
  '0x1e89d545',
  '0xc73a2d60',
  '0x51ba162c',
  '0x83f12fec',
]);

/**
 * The wallet only receives, and is not the sender. The method distributes, or a source sends ten
 * or more receivers a token, equally or unlisted: payouts of exchanges are not included.
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
