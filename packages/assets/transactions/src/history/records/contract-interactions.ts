import type { Address } from '@chainstead/core';
import { each, inside, view, wire } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import type { GivenApproval } from '../../approvals/read-approvals.ts';
import { showAllowance } from '../interactions/show-allowance.ts';
import type { RelatedToHistory } from '../page/related-to-history.ts';

const { address, integer, text } = wire;
const nothing = wire.wire(z.null());

interface Named {
  readonly address: Address;
  readonly related: RelatedToHistory;
}

function namesOf({ address, related }: Named) {
  const [token, collection] = [related.tokenOf(address), related.collectionOf(address)];
  return {
    ...related.labelOf(address),
    address,
    name: token.name ?? collection.name,
    symbol: token.symbol ?? collection.symbol,
    logo: token.logo ?? collection.logo,
  };
}

const tokenView = view('ApprovedToken', namesOf, {
  address: address(),
  address_label: text.orNull(
    { example: 'Tether USD (USDT)' },
    ({ label, name, symbol }) => label ?? (name !== null && symbol !== null ? `${name} (${symbol})` : name),
  ),
  token_name: text.orNull.of('name'),
  token_logo: text.orNull.of('logo'),
  token_symbol: text.orNull.of('symbol'),
});

const spenderView = view('ApprovedSpender', namesOf, {
  address: address(),
  address_label: text.orNull.of('label'),
  name: text.orNull('Name of the spender if it is a token, as for symbol and logo'),
  symbol: text.orNull(),
  logo: text.orNull(),
  entity: text.orNull(),
  entity_logo: text.orNull.of('entityLogo'),
});

interface ShownApproval extends Pick<GivenApproval, 'token' | 'spender' | 'expiration'> {
  readonly related: RelatedToHistory;
}

function partiesOf<Approval extends ShownApproval>(approval: Approval) {
  const { token, spender, related } = approval;
  return { ...approval, token: { address: token, related }, spender: { address: spender, related } };
}

const approvalView = view(
  'HistoryApproval',
  (approval: ShownApproval & { readonly value: bigint }) => partiesOf(approval),
  {
    value: text({ pattern: '^[0-9]+$' }, ({ value }) => value.toString()),
    value_formatted: text.orNull(
      '`unlimited` if the allowance is practically unlimited',
      ({ value, token, related }) => showAllowance(value, related.tokenOf(token.address).decimals),
    ),
    token: inside(tokenView)(),
    spender: inside(spenderView)(),
    expiration: integer.orAbsent('Unix seconds. Only for allowances that expire'),
  },
);

const approvalForAllView = view('HistoryApprovalForAll', (approval: ShownApproval) => partiesOf(approval), {
  value: nothing(() => null),
  value_formatted: nothing(() => null),
  token: inside(tokenView)(),
  operator: inside(spenderView).of('spender'),
  spender: inside(spenderView)('Same as operator'),
});

interface Approvals {
  readonly approvals: readonly GivenApproval[];
  readonly related: RelatedToHistory;
}

/** Null: none. */
function listsOf({ approvals, related }: Approvals, isGranted: boolean) {
  const some = approvals.filter((approval) => approval.isGranted === isGranted);
  const amounts = some.flatMap(({ value, ...approval }) =>
    value === null ? [] : [{ ...approval, value, related }],
  );
  const all = some.flatMap((approval) => (approval.kind === 'all' ? [{ ...approval, related }] : []));
  return { amounts: amounts.length > 0 ? amounts : null, all: all.length > 0 ? all : null };
}

const amounts = each(approvalView).orAbsent;
const all = each(approvalForAllView).orAbsent;

export const contractInteractionsView = view(
  'ContractInteractions',
  (of: Approvals) => ({ granted: listsOf(of, true), revoked: listsOf(of, false) }),
  {
    approvals: amounts(({ granted }) => granted.amounts),
    revokes: amounts(({ revoked }) => revoked.amounts),
    set_approvals_all: all(({ granted }) => granted.all),
    approvalsAll: all('Same as set_approvals_all', ({ granted }) => granted.all),
    set_revokes_all: all(({ revoked }) => revoked.all),
    revokesAll: all('Same as set_revokes_all', ({ revoked }) => revoked.all),
  },
);
