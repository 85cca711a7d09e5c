/** What answers hold of a recorded block, written from its JSON alone. */
import type { Chain } from '@chainstead/chains';
import {
  concat,
  decodeFunctionData,
  encodeFunctionData,
  type Hex,
  keccak256,
  numberToHex,
  parseAbi,
  slice,
  toFunctionSelector,
  toHex,
} from 'viem';
import { expect } from 'vitest';

type Json = Readonly<Record<string, unknown>>;

export interface RecordedBlock {
  readonly block: Json & { readonly transactions: readonly Json[] };
  readonly receipts: readonly (Json & { readonly logs: readonly Json[] })[];
}

const digits = (value: unknown): string => BigInt(String(value)).toString();
const lower = (value: unknown): string | null => (typeof value === 'string' ? value.toLowerCase() : null);
const isoOf = (value: unknown): string => new Date(Number(value) * 1_000).toISOString();

/** The header's part of a block's answer. */
export function expectedBlock(chain: Chain, { block, receipts }: RecordedBlock): Json {
  const known = new Set(receipts.map(({ transactionHash }) => lower(transactionHash)));
  const optional: Readonly<Record<string, unknown>> = {
    base_fee_per_gas: block.baseFeePerGas === undefined ? undefined : digits(block.baseFeePerGas),
    mix_hash: lower(block.mixHash) ?? undefined,
    withdrawals_root: lower(block.withdrawalsRoot) ?? undefined,
    withdrawals: (block.withdrawals as readonly Json[] | undefined)?.map(
      ({ index, validatorIndex, address, amount }) => ({
        index: digits(index),
        validator_index: digits(validatorIndex),
        address: lower(address),
        amount: digits(amount),
      }),
    ),
    blob_gas_used: block.blobGasUsed === undefined ? undefined : digits(block.blobGasUsed),
    excess_blob_gas: block.excessBlobGas === undefined ? undefined : digits(block.excessBlobGas),
    parent_beacon_block_root: lower(block.parentBeaconBlockRoot) ?? undefined,
    requests_hash: lower(block.requestsHash) ?? undefined,
  };
  const isMerged = chain.id === 1 && Number(block.number) >= 15_537_394;
  return {
    timestamp: isoOf(block.timestamp),
    number: digits(block.number),
    hash: lower(block.hash),
    parent_hash: lower(block.parentHash),
    nonce: lower(block.nonce),
    sha3_uncles: lower(block.sha3Uncles),
    logs_bloom: lower(block.logsBloom),
    transactions_root: lower(block.transactionsRoot),
    state_root: lower(block.stateRoot),
    receipts_root: lower(block.receiptsRoot),
    miner: lower(block.miner),
    difficulty: digits(block.difficulty ?? '0x0'),
    total_difficulty:
      typeof block.totalDifficulty === 'string'
        ? digits(block.totalDifficulty)
        : isMerged
          ? '58750003716598352816469'
          : '0',
    size: digits(block.size ?? '0x0'),
    extra_data: lower(block.extraData),
    gas_limit: digits(block.gasLimit),
    gas_used: digits(block.gasUsed),
    transaction_count: String(
      block.transactions.filter((one) => known.has(lower(one.hash)) && !isBeside(chain, block, one)).length,
    ),
    ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)),
  };
}

/** Listed by nodes of Polygon and HyperEVM in addition to the block's own. */
function isBeside(chain: Chain, block: Json, { hash, gasPrice }: Json): boolean {
  if (chain.receiptsRoot === 'hyperliquid' && gasPrice === '0x0') return true;
  const number = numberToHex(Number(block.number), { size: 8 });
  return lower(hash) === keccak256(concat([toHex('matic-bor-receipt-'), number, String(block.hash) as Hex]));
}

/** Wei, by block hash: worked out from `excessBlobGas` by hand where receipts have no price. */
const BLOB_PRICES: Readonly<Record<string, string>> = {
  '0x313990d54795a7e251672161a5671a72bce4254e7f773cf86b309f772b548194': '27234271276',
};

/** A transaction of the block; null for one without a receipt or outside the block's own. */
export function expectedTransaction(chain: Chain, { block, receipts }: RecordedBlock, transaction: Json) {
  const receipt = receipts.find(({ transactionHash }) => lower(transactionHash) === lower(transaction.hash));
  if (receipt === undefined || isBeside(chain, block, transaction)) return null;
  const index = String(block.transactions.indexOf(transaction));
  const place = {
    block_timestamp: isoOf(block.timestamp),
    block_number: digits(block.number),
    block_hash: lower(block.hash),
  };
  const isOld = typeof receipt.root === 'string' && receipt.root.length === 66;
  const price = typeof receipt.feeToken === 'string' ? 0n : priceOf(block, transaction, receipt);
  const gasUsed = BigInt(String(receipt.gasUsed));
  const blobPrice = (receipt.blobGasPrice as string | undefined) ?? BLOB_PRICES[lower(block.hash) ?? ''];
  const fee = gasUsed * price + BigInt(String(receipt.l1Fee ?? '0x0'));
  const labels = { entity: null, entity_logo: null, label: null };
  const of = (side: string) =>
    Object.fromEntries(Object.entries(labels).map(([name, value]) => [`${side}_address_${name}`, value]));
  const created = lower(receipt.contractAddress);
  const logs = receipts.flatMap((one) => one.logs);
  // One recorded node gives a number twice in a block, whose receipts are proven.
  const isCounted = new Set(logs.map(({ logIndex }) => Number(logIndex))).size < logs.length;
  return {
    hash: lower(transaction.hash),
    nonce: digits(transaction.nonce ?? '0x0'),
    transaction_index: index,
    from_address: lower(transaction.from),
    ...of('from'),
    to_address: lower(transaction.to),
    ...of('to'),
    value: digits(transaction.value ?? '0x0'),
    gas: digits(transaction.gas),
    gas_price: price.toString(),
    input: lower(transaction.input ?? transaction.data ?? '0x'),
    receipt_cumulative_gas_used: digits(receipt.cumulativeGasUsed),
    receipt_gas_used: gasUsed.toString(),
    receipt_contract_address: created === `0x${'0'.repeat(40)}` ? null : created,
    receipt_root: isOld ? lower(receipt.root) : null,
    receipt_status: isOld || typeof receipt.status !== 'string' ? null : digits(receipt.status),
    transaction_fee: coins(fee),
    blob_fee:
      transaction.blobVersionedHashes === undefined || blobPrice === undefined
        ? null
        : coins(131_072n * BigInt((transaction.blobVersionedHashes as unknown[]).length) * BigInt(blobPrice)),
    ...place,
    method_label: expectedMethod(lower(transaction.to), lower(transaction.input ?? transaction.data ?? '0x')),
    logs: receipt.logs.map((log) => {
      const topics = log.topics as readonly string[];
      return {
        log_index: isCounted ? String(logs.indexOf(log)) : digits(log.logIndex),
        transaction_hash: lower(transaction.hash),
        transaction_index: index,
        address: lower(log.address),
        data: lower(log.data),
        ...{
          topic0: lower(topics[0]),
          topic1: lower(topics[1]),
          topic2: lower(topics[2]),
          topic3: lower(topics[3]),
        },
        ...place,
      };
    }),
  };
}

/** Price of a unit of gas: from the receipt, or computed from the transaction and the block's base fee. */
function priceOf(block: Json, transaction: Json, receipt: Json): bigint {
  if (typeof receipt.effectiveGasPrice === 'string') return BigInt(receipt.effectiveGasPrice);
  const { maxFeePerGas, maxPriorityFeePerGas, gasPrice } = transaction;
  if (typeof maxFeePerGas !== 'string' || typeof block.baseFeePerGas !== 'string')
    return BigInt(String(gasPrice ?? '0x0'));
  const wanted = BigInt(block.baseFeePerGas) + BigInt(String(maxPriorityFeePerGas));
  return wanted < BigInt(maxFeePerGas) ? wanted : BigInt(maxFeePerGas);
}

/** Wei as coins, without zeros at the end. */
function coins(wei: bigint): string {
  const [whole, part] = [wei / 10n ** 18n, (wei % 10n ** 18n).toString().padStart(18, '0').replace(/0+$/, '')];
  return part === '' ? String(whole) : `${whole}.${part}`;
}

const KNOWN_CALLS = parseAbi([
  'function transfer(address to, uint256 value)',
  'function approve(address spender, uint256 value)',
  'function transferFrom(address from, address to, uint256 value)',
  'function setApprovalForAll(address operator, bool approved)',
  'function deposit()',
  'function withdraw(uint256 wad)',
]);
const KNOWN_SELECTORS = new Map(KNOWN_CALLS.map((entry) => [toFunctionSelector(entry), entry]));

/** The method's name, for calls that another decoder (viem) knows; any name or none for others. */
function expectedMethod(to: string | null, input: string | null): unknown {
  const data = (input ?? '0x') as Hex;
  if (to === null || data.length < 10) return null;
  const entry = KNOWN_SELECTORS.get(slice(data, 0, 4));
  if (entry === undefined) return expect.toSatisfy((label) => label === null || /^[A-Za-z_$][\w$]*$/.test(label));
  try {
    const { functionName, args } = decodeFunctionData({ abi: KNOWN_CALLS, data });
    return encodeFunctionData({ abi: [entry], functionName, args } as Parameters<
      typeof encodeFunctionData
    >[0]) === data
      ? functionName
      : null;
  } catch {
    // Not what the selector promises.
    return null;
  }
}

const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

/** What the log means, of transfers of ERC-20; anything or nothing for others. */
export function expectedEvent(log: {
  readonly topic0: string | null;
  readonly topic2: string | null;
  readonly topic3: string | null;
  readonly data: string | null;
}): unknown {
  if (log.topic0 === null) return null;
  const isErc20 =
    log.topic0 === TRANSFER && log.topic2 !== null && log.topic3 === null && log.data?.length === 66;
  if (!isErc20) return expect.toSatisfy((reported) => reported === null || reported.type === 'event');
  const value = BigInt(log.data ?? 0).toString();
  return expect.objectContaining({
    label: 'Transfer',
    params: [expect.anything(), expect.anything(), { name: 'value', type: 'uint256', value }],
  });
}
