import { ZERO_ADDRESS } from '@chainstead/core';
import { addressKey } from '@chainstead/db/address-key';
import type { KeptState } from '@chainstead/sync';
import { changedAmounts, changesLeft, type KeptAmounts } from './moved-amounts.ts';

const AMOUNTS: KeptAmounts = { table: 'nft_wallet_tokens', party: 'wallet', subject: 'party' };

/**
 * What wallets hold that somebody asked about: what their transfers add up to, by token and by contract. Sums don't ask in which order
 * transfers came: below zero is an amount whose beginning is not known yet, or of a contract that lies. A token that was given away keeps its
 * row, with zero: when history before it comes, its newest change is known.
 */
export const nftWalletTokens: KeptState = {
  name: 'nft-wallet-tokens',
  version: 1,
  tables: [
    { name: 'nft_wallet_tokens', subject: 'wallet' },
    { name: 'nft_wallet_collections', subject: 'wallet' },
  ],
  rowsOf: (wallet) => {
    // Every mint and burn of the chain is its, and counts for nothing.
    if (wallet === ZERO_ADDRESS) return ['false'];
    const bytes = `'\\x${wallet.slice(2)}'::bytea`;
    const of = (side: string): string => `address_key(${side}) = ${addressKey(wallet)} AND ${side} = ${bytes}`;
    return [of('to_address'), `${of('from_address')} AND to_address <> ${bytes}`];
  },
  indexes: ['nft_transfers_by_sender', 'nft_transfers_by_recipient'],
  added: (rows, kept) => [change(rows, kept, '+')],
  removed: (rows, kept, counted) => [change(rows, kept, '-'), ...changesLeft(AMOUNTS, rows, kept, counted)],
};

function change(rows: string, kept: string, sign: '+' | '-'): string {
  return `WITH ${changedAmounts(AMOUNTS, rows, kept, sign)}
INSERT INTO nft_wallet_collections AS holding (wallet, chain_id, token_address, ids_held)
SELECT wallet, chain_id, token_address, sum((after > 0)::int - (before > 0)::int) FROM changes
GROUP BY wallet, chain_id, token_address HAVING sum((after > 0)::int - (before > 0)::int) <> 0 ORDER BY wallet, chain_id, token_address
ON CONFLICT (wallet, chain_id, token_address) DO UPDATE SET ids_held = holding.ids_held + excluded.ids_held`;
}
