import { type Address, decimalAmount, nearestNumber, smallerFraction } from '@chainstead/core';
import { inside, view, wire } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import { dollarsOfAmount, type TokenDollars } from '../token-values/token-prices.ts';
import type { WalletApproval, WalletApprovals } from './wallet-approvals-page.ts';

/** Null if it was not read in time, or the token returned none. */
export interface PresentApproval {
  readonly approval: WalletApproval;
  readonly allowance: string | null;
  readonly balance: string | null;
}

interface RelatedToApprovals extends Pick<WalletApprovals, 'blockOf' | 'tokenOf' | 'labelOf'> {
  readonly prices: ReadonlyMap<Address, TokenDollars>;
}

type ShownApproval = ReturnType<typeof shownApproval>;

function shownApproval(
  { approval, allowance, balance }: PresentApproval,
  { blockOf, tokenOf, labelOf, prices }: RelatedToApprovals,
) {
  const facts = tokenOf(approval.token);
  return {
    ...approval,
    ...{ facts, balance },
    time: blockOf(approval).block_timestamp,
    value: allowance ?? approval.value,
    price: prices.get(facts.address)?.usd,
    labelOf,
    formatted: (amount: string) => (facts.decimals === null ? null : decimalAmount(amount, facts.decimals)),
  };
}

const { address, digits, flag, hash, text } = wire;
const number = wire.wire(z.number()).orNull;

const tokenView = view(null, (approval: ShownApproval) => ({ ...approval, ...approval.facts }), {
  address: address(),
  address_label: text.orNull(({ labelOf, facts }) => labelOf(facts.address).label),
  name: text.orNull(),
  symbol: text.orNull(),
  logo: text.orNull(),
  possible_spam: flag.of('possibleSpam'),
  verified_contract: flag.of('verified'),
  current_balance: digits.orNull('Balance of the wallet. null if the token does not return it', 'balance'),
  current_balance_formatted: text.orNull(({ balance, formatted }) =>
    balance === null ? null : formatted(balance),
  ),
  usd_price: number('US dollars per whole token at the last indexed block', ({ price }) =>
    price === undefined ? null : nearestNumber(price),
  ),
  usd_at_risk: number(
    'US dollars that the spender can take: the smaller of allowance and balance. null if one is unknown',
    ({ value, balance, decimals, price }) => {
      const allowed = dollarsOfAmount(BigInt(value), decimals, price);
      const held = balance === null ? null : dollarsOfAmount(BigInt(balance), decimals, price);
      return allowed === null || held === null ? null : nearestNumber(smallerFraction(allowed, held));
    },
  ),
});

const spenderView = view(null, ({ spender, labelOf }: ShownApproval) => ({ spender, ...labelOf(spender) }), {
  address: address.of('spender'),
  address_label: text.orNull.of('label'),
  entity: text.orNull(),
  entity_logo: text.orNull.of('entityLogo'),
});

/** docs/api/wallets.md#wallet-approvals */
export const approvalView = view('WalletApproval', shownApproval, {
  block_number: digits('From the newest Approval event of the token and spender', (approval) =>
    String(approval.block_number),
  ),
  block_timestamp: wire.wire(z.iso.datetime({ precision: 3 })).orNull.of('time'),
  transaction_hash: hash.orNull(),
  value: digits(
    'Current allowance in base units, as returned by the token. If the token returns none, from the event',
  ),
  value_formatted: text.orNull(
    { description: 'null until the decimals are known', example: '1.5' },
    ({ value, formatted }) => formatted(value),
  ),
  unlimited: flag('true if the allowance is practically unlimited', ({ value }) => isUnlimited(BigInt(value))),
  token: inside(tokenView)((approval) => approval),
  spender: inside(spenderView)((approval) => approval),
});

/** Tokens that decrease it leave slightly less than 2^256 − 1; UNI and COMP have 96 bits. */
function isUnlimited(amount: bigint): boolean {
  return amount >= 2n ** 255n || amount === 2n ** 96n - 1n;
}
