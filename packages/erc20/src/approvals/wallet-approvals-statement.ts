import { subjectColumns, subjectCoverage, subjectHistory } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, expectedTrue, hexBytes, hexText, type Statement, where } from '@chainstead/db';
import { erc20WalletApprovals } from './wallet-approvals.ts';

/** Where a page ended: its last row. */
export interface ApprovalKey {
  readonly blockNumber: number;
  readonly transactionIndex: number;
  readonly logIndex: number;
  readonly token: Address;
  readonly spender: Address;
}

/** What to read. */
export interface WalletApprovalsQuery {
  readonly wallet: Address;
  /** Approvals wanted; one more is read to see whether a page follows. */
  readonly limit: number;
  /** Approvals strictly older than this one; null for the first page. */
  readonly after: ApprovalKey | null;
  /** The newest block at the first request of a run: what was approved later stays out. Null on the first page. */
  readonly pinnedBlock: number | null;
}

/** The dataset whose coverage says what of a wallet is known. */
const DATASET = 'erc20-approvals';

/**
 * The statement behind a page: one range scan, backwards, of `erc20_wallet_approvals_by_block` that stops after limit + 1 approvals in force, and for each
 * of them probes of the keys of what is known of its block, token and spender (get-wallet-approvals.explain.test.ts).
 */
export function walletApprovalsStatement(chain: Chain, query: WalletApprovalsQuery): Statement {
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const wallet = bind(addressBytes(query.wallet));
  const chainId = bind(chain.id);
  const subject = {
    kind: 'wallet',
    subject: wallet,
    chainId,
    dataset: DATASET,
    states: [erc20WalletApprovals],
  } as const;
  const bounds = [
    `wallet = ${wallet}`,
    `chain_id = ${chainId}`,
    ...(query.after === null ? pinned(query, bind) : [before(query.after, bind)]),
    expectedTrue('value > 0'),
  ];
  const text = `WITH ${subjectCoverage(subject)}, state AS MATERIALIZED (
  SELECT ${subjectColumns(subject)} FROM covered LEFT JOIN ${subjectHistory(subject)}
), approval AS MATERIALIZED (
  SELECT held.value, held.block_number, held.transaction_index, held.log_index, held.transaction_hash, held.token, held.spender,
    token.name, token.symbol, token.decimals, token.logo, token.verified, token.possible_spam,
    ${labelOf('held.token', chainId, 'label')} AS token_label, ${labelOf('held.spender', chainId, 'label')} AS spender_label,
    ${labelOf('held.spender', chainId, 'entity')} AS spender_entity, ${labelOf('held.spender', chainId, 'entity_logo')} AS spender_entity_logo
  FROM (SELECT * FROM erc20_wallet_approvals ${where(bounds)} ORDER BY ${ORDER} LIMIT ${bind(query.limit + 1)}) AS held
  LEFT JOIN LATERAL (SELECT * FROM tokens WHERE address = held.token AND chain_id = ${chainId} LIMIT 1) AS token ON true
), block AS MATERIALIZED (
  SELECT block_number, block_timestamp FROM blocks WHERE chain_id = ${chainId} AND block_number = ANY (ARRAY(SELECT block_number FROM approval))
)
SELECT state.*,
  approval.value::text, approval.block_number, approval.transaction_index, approval.log_index,
  ${hexText('approval.transaction_hash')} AS transaction_hash, block.block_timestamp,
  ${hexText('approval.token')} AS token, approval.name, approval.symbol, approval.decimals, approval.logo, approval.verified,
  approval.possible_spam, ${hexText('approval.spender')} AS spender, approval.token_label, approval.spender_label, approval.spender_entity,
  approval.spender_entity_logo
FROM state LEFT JOIN approval ON true LEFT JOIN block ON block.block_number = approval.block_number
ORDER BY ${ORDER.replaceAll(/\b(?=block_number|transaction_index|log_index|token|spender)/g, 'approval.')}`;
  return { text, values };
}

const PLACE = ['block_number', 'transaction_index', 'log_index', 'token', 'spender'];
const ORDER = PLACE.map((column) => `${column} DESC`).join(', ');

function pinned({ pinnedBlock }: WalletApprovalsQuery, bind: (value: unknown) => string): readonly string[] {
  return pinnedBlock === null ? [] : [`block_number <= ${bind(pinnedBlock)}::int`];
}

/** The last row of the page before is not above the pinned block, so it bounds alone. */
function before(key: ApprovalKey, bind: (value: unknown) => string): string {
  const place = [
    `${bind(key.blockNumber)}::int`,
    `${bind(key.transactionIndex)}::int`,
    `${bind(key.logIndex)}::int`,
    `${bind(hexBytes(key.token))}::bytea`,
    `${bind(hexBytes(key.spender))}::bytea`,
  ];
  return `(${PLACE.join(', ')}) < (${place.join(', ')})`;
}

/** Of several labels the one for the chain comes first, then one that knows the entity. */
function labelOf(address: string, chainId: string, column: string): string {
  return `(SELECT ${column} FROM address_labels WHERE address = ${address} AND chain_id IN (${chainId}, 0)
    ORDER BY chain_id = 0, entity IS NULL, source COLLATE "C" LIMIT 1)`;
}
