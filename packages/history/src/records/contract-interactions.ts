import type { Address } from '@chainstead/core';
import type { GivenApproval } from '@chainstead/transactions';
import { z } from '@hono/zod-openapi';
import { showAllowance } from '../interactions/show-allowance.ts';
import type { BesideHistory } from '../page/beside-history.ts';

const text = z.string().nullable();
const address = z.string().openapi({ pattern: '^0x[0-9a-f]{40}$' });

const tokenSchema = z
  .object({
    address,
    address_label: text.openapi({ example: 'Tether USD (USDT)' }),
    token_name: text,
    token_logo: text,
    token_symbol: text,
  })
  .openapi('ApprovedToken');

const spenderSchema = z
  .object({
    address,
    address_label: text,
    name: text.openapi({ description: 'Of a spender that is a token itself, as symbol and logo' }),
    symbol: text,
    logo: text,
    entity: text,
    entity_logo: text,
  })
  .openapi('ApprovedSpender');

const approvalSchema = z
  .object({
    value: z.string().openapi({ pattern: '^[0-9]+$' }),
    value_formatted: text.openapi({ description: '`unlimited` for what nobody can use up' }),
    token: tokenSchema,
    spender: spenderSchema,
    expiration: z.int().optional().openapi({ description: 'Unix seconds, of allowances that end by themselves' }),
  })
  .openapi('HistoryApproval');

const approvalForAllSchema = z
  .object({
    value: z.null(),
    value_formatted: z.null(),
    token: tokenSchema,
    operator: spenderSchema,
    spender: spenderSchema.openapi({ description: 'The same as operator' }),
  })
  .openapi('HistoryApprovalForAll');

/** What a transaction let others move: only the members that have entries. Clients know those of whole collections by either name. */
export const contractInteractionsSchema = z
  .object({
    approvals: z.array(approvalSchema).optional(),
    revokes: z.array(approvalSchema).optional(),
    set_approvals_all: z.array(approvalForAllSchema).optional(),
    approvalsAll: z.array(approvalForAllSchema).optional().openapi({ description: 'The same as set_approvals_all' }),
    set_revokes_all: z.array(approvalForAllSchema).optional(),
    revokesAll: z.array(approvalForAllSchema).optional().openapi({ description: 'The same as set_revokes_all' }),
  })
  .openapi('ContractInteractions');

/** Null where nothing was approved. */
export function showContractInteractions(
  approvals: readonly GivenApproval[],
  beside: BesideHistory,
): z.infer<typeof contractInteractionsSchema> | null {
  if (approvals.length === 0) return null;
  const given = approvals.filter(({ isGranted }) => isGranted);
  const taken = approvals.filter(({ isGranted }) => !isGranted);
  const ofAmounts = (some: readonly GivenApproval[]) => some.flatMap((one) => showApproval(one, beside) ?? []);
  const ofAll = (some: readonly GivenApproval[]) =>
    some.flatMap((one) => (one.kind === 'all' ? [showApprovalForAll(one, beside)] : []));
  const lists = { approvals: ofAmounts(given), revokes: ofAmounts(taken) };
  const [approvalsAll, revokesAll] = [ofAll(given), ofAll(taken)];
  return {
    ...(lists.approvals.length > 0 && { approvals: lists.approvals }),
    ...(lists.revokes.length > 0 && { revokes: lists.revokes }),
    ...(approvalsAll.length > 0 && { set_approvals_all: approvalsAll, approvalsAll }),
    ...(revokesAll.length > 0 && { set_revokes_all: revokesAll, revokesAll }),
  };
}

function showApproval(
  { token, spender, value, expiration }: GivenApproval,
  beside: BesideHistory,
): z.infer<typeof approvalSchema> | null {
  if (value === null) return null;
  return {
    value: value.toString(),
    value_formatted: showAllowance(value, beside.tokenOf(token).decimals),
    token: showToken(token, beside),
    spender: showSpender(spender, beside),
    ...(expiration !== null && { expiration }),
  };
}

function showApprovalForAll(
  { token, spender }: GivenApproval,
  beside: BesideHistory,
): z.infer<typeof approvalForAllSchema> {
  const operator = showSpender(spender, beside);
  return { value: null, value_formatted: null, token: showToken(token, beside), operator, spender: operator };
}

function showToken(address: Address, beside: BesideHistory): z.infer<typeof tokenSchema> {
  const { name, symbol, logo } = namesOf(address, beside);
  return {
    address,
    address_label: beside.labelOf(address).label ?? (name !== null && symbol !== null ? `${name} (${symbol})` : name),
    token_name: name,
    token_logo: logo,
    token_symbol: symbol,
  };
}

function showSpender(address: Address, beside: BesideHistory): z.infer<typeof spenderSchema> {
  const { label, entity, entityLogo } = beside.labelOf(address);
  const { name, symbol, logo } = namesOf(address, beside);
  return { address, address_label: label, name, symbol, logo, entity, entity_logo: entityLogo };
}

/** Of a token of either kind. */
function namesOf(address: Address, beside: BesideHistory) {
  const token = beside.tokenOf(address);
  const collection = beside.collectionOf(address);
  return {
    name: token.name ?? collection.name,
    symbol: token.symbol ?? collection.symbol,
    logo: token.logo ?? collection.logo,
  };
}
