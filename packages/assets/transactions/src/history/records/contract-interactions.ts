import type { Address } from '@chainstead/core';
import { z } from '@hono/zod-openapi';
import type { GivenApproval } from '../../approvals/read-approvals.ts';
import { showAllowance } from '../interactions/show-allowance.ts';
import type { RelatedToHistory } from '../page/related-to-history.ts';

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
    name: text.openapi({ description: 'Name of the spender if it is a token, as for symbol and logo' }),
    symbol: text,
    logo: text,
    entity: text,
    entity_logo: text,
  })
  .openapi('ApprovedSpender');

const approvalSchema = z
  .object({
    value: z.string().openapi({ pattern: '^[0-9]+$' }),
    value_formatted: text.openapi({ description: '`unlimited` if the allowance is practically unlimited' }),
    token: tokenSchema,
    spender: spenderSchema,
    expiration: z.int().optional().openapi({ description: 'Unix seconds. Only for allowances that expire' }),
  })
  .openapi('HistoryApproval');

const approvalForAllSchema = z
  .object({
    value: z.null(),
    value_formatted: z.null(),
    token: tokenSchema,
    operator: spenderSchema,
    spender: spenderSchema.openapi({ description: 'Same as operator' }),
  })
  .openapi('HistoryApprovalForAll');

export const contractInteractionsSchema = z
  .object({
    approvals: z.array(approvalSchema).optional(),
    revokes: z.array(approvalSchema).optional(),
    set_approvals_all: z.array(approvalForAllSchema).optional(),
    approvalsAll: z.array(approvalForAllSchema).optional().openapi({ description: 'Same as set_approvals_all' }),
    set_revokes_all: z.array(approvalForAllSchema).optional(),
    revokesAll: z.array(approvalForAllSchema).optional().openapi({ description: 'Same as set_revokes_all' }),
  })
  .openapi('ContractInteractions');

export function showContractInteractions(
  approvals: readonly GivenApproval[],
  related: RelatedToHistory,
): z.infer<typeof contractInteractionsSchema> | null {
  if (approvals.length === 0) return null;
  const given = approvals.filter(({ isGranted }) => isGranted);
  const taken = approvals.filter(({ isGranted }) => !isGranted);
  const ofAmounts = (some: readonly GivenApproval[]) =>
    some.flatMap((approval) => showApproval(approval, related) ?? []);
  const ofAll = (some: readonly GivenApproval[]) =>
    some.flatMap((approval) => (approval.kind === 'all' ? [showApprovalForAll(approval, related)] : []));
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
  related: RelatedToHistory,
): z.infer<typeof approvalSchema> | null {
  if (value === null) return null;
  return {
    value: value.toString(),
    value_formatted: showAllowance(value, related.tokenOf(token).decimals),
    token: showToken(token, related),
    spender: showSpender(spender, related),
    ...(expiration !== null && { expiration }),
  };
}

function showApprovalForAll(
  { token, spender }: GivenApproval,
  related: RelatedToHistory,
): z.infer<typeof approvalForAllSchema> {
  const operator = showSpender(spender, related);
  return { value: null, value_formatted: null, token: showToken(token, related), operator, spender: operator };
}

function showToken(address: Address, related: RelatedToHistory): z.infer<typeof tokenSchema> {
  const { name, symbol, logo } = namesOf(address, related);
  return {
    address,
    address_label:
      related.labelOf(address).label ?? (name !== null && symbol !== null ? `${name} (${symbol})` : name),
    token_name: name,
    token_logo: logo,
    token_symbol: symbol,
  };
}

function showSpender(address: Address, related: RelatedToHistory): z.infer<typeof spenderSchema> {
  const { label, entity, entityLogo } = related.labelOf(address);
  const { name, symbol, logo } = namesOf(address, related);
  return { address, address_label: label, name, symbol, logo, entity, entity_logo: entityLogo };
}

function namesOf(address: Address, related: RelatedToHistory) {
  const token = related.tokenOf(address);
  const collection = related.collectionOf(address);
  return {
    name: token.name ?? collection.name,
    symbol: token.symbol ?? collection.symbol,
    logo: token.logo ?? collection.logo,
  };
}
